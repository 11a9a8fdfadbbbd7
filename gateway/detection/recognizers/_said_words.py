"""How people call secrets when they tell them to each other, and the words that lead from the name to the value, in
English, German, French, Spanish, Italian, Portuguese and Dutch. RE2 expressions, to be read in any case.
"""

import re

from gateway.detection.entropy import phrases


def _any(words: str) -> str:
    return "|".join(sorted(phrases(words), key=lambda phrase: (-len(phrase), phrase)))


PASSWORDS = _any(
    "wlan-?schlüssel, netzwerkschlüssel, (?:wi-?fi|wlan|network|wpa[23]?|wep|pre-shared|isakmp)(?: security)? key,"
    " clé (?:du )?(?:wi-?fi|wpa2?|réseau),"
    " passwords?, passwd, passphrases?, passcodes?, pwd, pw, passwort, passwörter, kennwort, mot[ _]de[ _]passe,"
    " mots de passe, mdp, contraseñas?, contrasenas?, clave, senhas?, palavra[ -]passe, wachtwoord, parola d'ordine,"
    " mot de passe (?:provisoire|temporaire|initial), contraseña (?:temporal|provisional|inicial),"
    " senha (?:temporária|provisória|inicial), password (?:temporanea|provvisoria|iniziale), key content,"
    " (?:wi-?fi|login|admin|root|my|temp|default|vpn|mail|server|account) pass, the pass for"
)
SECRETS = _any(
    "api[ -]?keys?, api[ -]?tokens?, access keys?, access tokens?, secret keys?, secret, tokens?, auth tokens?,"
    " authentication tokens?, client secret, private key, api-?schlüssel, zugangsschlüssel, clé d'api, clé api,"
    " clave api, clave de api, chiave api, chave api, chave de api, chave da api, api-sleutel, credentials?"
)
CODES = (
    r"p(?:in|uk)(?:[ -]?(?:code|number|nummer))?|pass(?:key|code)"
    r"|(?:alarm|tür|haus|tor|safe|tresor|zugangs)[\w-]*[ -]?code"
    r"|(?:verification|security|authentication|one[- ]time|log-?in|sign-in|otp|2fa|mfa|recovery|backup|access"
    r"|unlock|door|gate|alarm|entry|confirmation)[ -](?:codes?|pin|password|passcode)"
    r"|otp|bestätigungscode|sicherheitscode|pincode|geheimzahl|verificatiecode"
    r"|code (?:de vérification|de sécurité|secret|pin|d'accès)"
    r"|código (?:de verificación|de seguridad|pin|de verificação|de segurança)"
    r"|codice (?:di verifica|pin|di sicurezza)"
)
OWN = _any(
    "my, our, your, his, her, their, mein, meine, unser, dein, ihr, sein, mon, notre, votre, son, mi, nuestra, tu, su,"
    " la mia, la tua, la sua, minha, a minha, nossa, mijn, onze"
)
FOR = _any(
    "for, to, of, from, on, set to, für, fürs, zu, zum, zur, vom, von, des, der, pour, de, du, des, para, del, do, da,"
    " per, della, dell', di, van, voor"
)
"""What leads from the word to what the password opens."""
HAPPENED = (
    r"(?:(?:is|was|has been|have been|now|wurde|ist|a été|ha sido|è stata|foi|is)\s){0,2}"
    r"(?:generated|created|set|reset|changed|updated|issued|assigned|generiert|erzeugt|erstellt|geändert|gesetzt"
    r"|zurückgesetzt|vergeben|généré|créé|changé|modifié|réinitialisé|generada|creada|cambiada|cambiata|generata"
    r"|impostata|gerada|alterada|redefinida|gewijzigd|ingesteld|aangemaakt)"
)
"""What is told to have happened to a password."""
NEW = _any("nueva, nuova, nova, nouvelle, actual, attuale, provisional, temporal, temporária, provisória, tijdelijk")
"""What is said of it behind the word."""
THE = _any("the, das, le, la, il, a, het")
NO_PASSWORD = frozenset(
    phrases(
        "weak, strong, long, short, secure, safe, unsafe, fine, good, great, here, there, below, above, gone, lost,"
        " right, simple, complex, easy, hard, blank, unique, random, enough, different, nothing, something, anything,"
        " stuck, longer, shorter, stronger, weaker, better, older, newer, known, unknown, again, later, today, always,"
        " never, still, really, currently, probably, also, just, only, okay, ready, someone, everything, everywhere,"
        " yours, theirs, ours, shown, mandatory, bcrypt, argon, falsch, richtig, sicher, unsicher, schwach, stark,"
        " kurz, lang, bekannt, leer, jetzt, nicht, immer, noch, incorrecto, incorrecta, corto, corta, largo, larga,"
        " seguro, segura, facile, faible, forte, longue, courte, obligatoire, obligatoria, perdu, perdue, onjuist,"
        " verkeerd, sterk, zwak, errada, errado, fraca, sbagliata, corretta, debole"
    )
)
"""Words that say of a password what it is like, beside those that end as adjectives do."""
NO_VALUE = re.compile(
    r"(?i)(?:wpa|wep|iso|rfc|utf|http|socks|tls|ssl|sha|aes|rsa|nist)[\-_ ]?\d[\w.\-]*|v\d+(?:\.\d+)+|\d+[~\-]\d+"
    r"|[a-z]+\d+(?:\.\d+)+|[a-z\-]+(?:/[a-z0-9_\-]+)+"
)
"""What looks like a password: standards, versions, rules, paths. `WPA2-Enterprise`, `v1.2.3`, `6~20`, `secret/db2`."""
LOGINS = _any(
    "wi-?fi, wlan, log ?in, sign in, basic[ -]auth, credentials?, creds, zugangsdaten, identifiants?, credenciales,"
    " credenziali, credenciais, inloggegevens, user(?:name)? ?/ ?pass(?:word)?"
)
IS = _any(
    "is, was, were, are, be, to, as, becomes, remains, use, try, now, ist, lautet, war, sind, jetzt,"
    " ab (?:sofort|jetzt|heute), from now on, est, était, sont,"
    " maintenant, c'est, es, era, son, ahora, è, sono, adesso, é, foi, são, agora, luidt, nu"
)
WITH = _any("with, w/, are, is, as, mit, sind, avec, sont, con, son, sono, com, são, met, zijn")
ACCOUNTS = (
    r"user(?:[ _-]?(?:name|id))?|login|e-?mail|account|benutzer(?:name)?|utilisateur|usuario|utente|gebruiker(?:snaam)?"
)
"""What the account is called that a password opens."""
