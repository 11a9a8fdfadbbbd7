"""What stands before a name and is surely no part of it.

Words that are somebody's name as well (Don, Bay, Pan) are left out: a title that is hidden with a name costs little, a
first name left in clear is a leak. Kin, roles and greetings of languages that the model knows little are among them.
"""

TITLES = frozenset(
    """
    mr mrs ms miss mister mx dr doctor prof professor sir madam reverend
    herr herrn frau fräulein
    monsieur mme mlle madame mademoiselle
    señor señora señorita sr sra srta
    signor signora signorina dott dottore dottoressa
    senhor senhora
    meneer mevrouw mevr dhr mudr judr phdr
    mutter vater kind sohn tochter oma opa tante onkel schwiegermutter kollege kollegin azubi praktikantin praktikant
    patient patientin mieter mieterin vermieter vermieterin zeuge zeugin kunde kundin
    patiente paciente pacient pacjent pacjentka paziente potilas pasient hasta abonné abonnée locataire cliente
    hej hei hallo hola bonjour ciao olá
    """.split()
)
