"""Words that are not names but occur where names do: after "I'm" or "Dear", before a signature, in a form field."""

from gateway.detection.entropy import word_set

NO_NAMES = word_set(
    """
    a about absolutely actually afraid after again ago all almost alone already also although always am an
    and angry another any anyone are around as asking at attached available away back based be because
    been before behind being below best better between beyond both bored bound broken busy but by called
    calling can cannot certain child children clear client close coming concerned confident confused
    considering content convinced corrected could curious currently customer dad daughter day dead deeply
    definitely depressed did different disappointed do does doing done down due during each either eager
    employee enough even ever every everyone everybody excited exhausted expected far father feeling few
    fine finished first folks follow following for forever free friend friends from full fully further
    gentlemen getting given glad going gone good got grateful great guys had half happy hard has have
    having he hello help her here hi him his home hoping how however hungry i i'm i've i'll i'd he's she's
    it's we're you're they're that's if ill important in inside instead interested into is it its john_doe
    just keen kind ladies last late later leaving left less like list listed listening little live living
    long looking lost love lucky madam making manager many may maybe me mentioned missing mister
    moderately mom more most mother moving much mum must my myself named near nearly neighbor neighbour
    nervous never new next nice no nobody none nor not nothing now null of off offline often ok okay old
    on once one online only open or other our out outside over own partner perhaps please pleased positive
    possible pretty probably proud quite rather reader readers ready really referring relatively relieved
    required responsible retired right running sad safe said same satisfied saying scared seeking seeing
    several she short should shown sick similar simply since sir sirs sister so some someone son soon
    sorry speaking spelled spelt still stuck stupid such suppose supposed sure surprised taken taking
    talking team thankful thanks that the their them then there these they thinking this those though
    thrilled through thus tired to today together told tomorrow too toward trying turned two unable
    unaware under undecided unknown unless until unsure up upset us used user usually valued very via wait
    waiting was we welcome well were what when where whether which while who whoever whom whose why wife
    will willing with within without wondering working world worried would writing written wrong yes
    yesterday yet you your yours zero administrator admin agent board boss captain chair colleague
    colleagues committee community company counsel department dept desk diary director doctor editor
    editors engineer god hiring honey human hr it judge lord manager member members ministry office
    officer parents president professor recruiter recruiters santa service staff student students
    subscriber support teacher teachers treasurer january february march april june july august september
    october november december monday tuesday wednesday thursday friday saturday sunday english german
    french spanish italian dutch polish russian chinese japanese korean american british irish scottish
    welsh canadian australian indian mexican brazilian european asian african arab jewish muslim christian
    catholic protestant hindu buddhist atheist vegan vegetarian republican democrat das dem den der des
    die ein eine einen einer es ich ist im mein nicht sehr und von vom zu zum zur auf aus bei mit sicher
    froh hier auch damen herren team kunde kundin kollegen kolleginnen zusammen alle leute freunde
    freundin freund nutzer le la les un une des du de et est je suis très pas monsieur madame mesdames
    messieurs tous toutes client cliente équipe el los las una unos y es soy muy no señor señora señores
    amigos amiga amigo cliente todos equipo muchas gracias por regards sincerely cheers thanks sent best
    yours faithfully warmly kind truly respectfully name first middle surname email phone address date
    number signature title subject re fwd cc bcc note ps
    parent guardian applicant applicants candidate candidates tenant tenants resident residents landlord guest guests
    passenger passengers shareholder shareholders investor investors donor donors volunteer volunteers supplier
    suppliers patient patients policyholder homeowner homeowners neighbours neighbors
    dob mrn acct ssn nhs dni nif nie iban tel fax mob
    test string null demo example faker foo baz placeholder unnamed untitled default
    """
)
