"""Titles and other words before a name that never belong to it.

Excludes words that are also names (Don, Bay, Pan): hiding a title with a name costs little, but leaving a first name in
clear is a leak. Includes kinship terms, roles and greetings in languages that the model knows less well.
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
