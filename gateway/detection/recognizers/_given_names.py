"""Common given names, used to recognize names in lower case or after a mere "I'm".

Compiled by hand from frequent names in Europe, the Americas, Asia and Africa. Excludes ambiguous names (will, mark,
may, grace, hope, rose …).
"""

from gateway.detection.entropy import word_set

GIVEN_NAMES = word_set(
    """
    aaron abdul abdullah adam adriana adrian agnes agnieszka ahmad ahmed aisha alan albert alberto alejandra
    alejandro aleksandra alessandro alexander alexandra alexis alfred ali alice alicia alina allison amanda
    amelia amina amir amy ana anastasia andrea andreas andrei andrew andré angela anita anja anna anne annette
    annie anthony antoine anton antonio antónio anya arjun arthur arun ashley astrid audrey barbara beata
    beatrice beatriz ben benjamin bernard bernd betty bianca birgit bjorn bogdan boris brandon brenda brian
    brigitte bruno camila camille carla carlos carmen carol carolina caroline cecilia charles charlotte chen
    chiara christian christina christine christoph christopher claire clara claudia claudio colin connor
    cristina cynthia daniel daniela danielle daria dave david deborah denis dennis diana diego dieter dietmar
    dmitri dominik dominique donald donna dorothy douglas edith eduardo edward eileen elena eleanor elias
    elisa elisabeth elizabeth ella ellen elsa emil emily emma enrique eric erica erik erika ernst esther ethan
    eugene eva evelyn fatima felipe felix fernanda fernando fiona florian fatma francesca francesco francis
    francisco franz françois frederic frieda fritz gabriel gabriela gabriele george georg gerald gerard
    gerhard giorgio giovanni giulia giuseppe gonzalo gregory guido guillaume gustav hannah hans harald harold
    harry hassan heather heidi heinrich heinz helen helena helga helmut henrik henry herbert hiroshi holger
    hugo hussein ian ibrahim igor ines ingrid irena irene isaac isabel isabella ivan jack jacob jacqueline
    jakob jakub james jamie jan jana jane janet janina jason javier jean jeffrey jennifer jens jeremy jessica
    jim joan joanna joao joaquin joe joel johan johanna johannes john johnny jonas jonathan jorge jose josef
    joseph josé joshua juan juana judith judy julia julian juliana julie julien jürgen jurgen justin kai karen
    karin karl karolina kate katarina katharina katherine kathleen kathryn katie katja katrin keiko keith
    kelly kenji kenneth kevin khalid klaus kristina kyle laura lauren laurent lea leah lena leo leon leonard
    leonardo leonie leticia liam lida lina linda lisa logan lorenzo louis louise luca lucas lucia lucy luis
    luisa lukas luke maciej magdalena malik manfred manuel manuela marc marcel marcin marco marcos margaret
    margarita maria mariana marie marina mario marion markus marta martha martin martina mary mateo mathieu
    mathilde matteo matthew matthias maurice mauricio max maximilian mehmet melanie melissa mercedes mia
    michael michaela michal michel michele michelle miguel mikhail mila milan mohamed mohammad mohammed monica
    monika muhammad mustafa nadia nadine nancy natalia natalie natasha nathan nicholas nicola nicolas nicole
    niklas nina noah noor norbert nora oksana ola oleg olga oliver olivia omar oscar otto pablo pamela paola
    paolo patricia patrick paul paula paulina pauline paulo pavel pedro peter petra philip philipp philippe
    pierre pilar piotr priya rachel rafael rahul rainer rajesh ralf ralph ramon raquel raul ravi raymond
    rebecca regina renate renée ricardo richard rita robert roberta roberto rodrigo roger roland roman ronald
    rosa rosemary roxana ruben ruth ryan sabine sabrina salma samantha samuel sandra sanjay santiago sara
    sarah scott sean sebastian sergei sergio sharon sheila shirley silke silvia simon simone sofia sonia
    sophia sophie stefan stefania stefanie stephanie stephen steve steven susan susanne svetlana sylvia
    takeshi tamara tania tatiana teresa theresa thomas tiffany tim timothy tina tobias todd tom tomas tomasz
    torsten tyler ulrich ulrike ursula uwe valentina valeria vanessa vera veronica victor victoria viktor
    vincent virginia vladimir walter wei werner wilhelm william wolfgang xavier yasmin yolanda yuki yusuf
    yvonne zainab zoe zofia
    """
)
