"""How people call secrets when they tell them to each other, and the words that lead from the name to the value, in
English, German, French, Spanish, Italian, Portuguese and Dutch. RE2 expressions, to be read in any case.
"""

from gateway.detection.tokens import phrases


def _any(words: str) -> str:
    return "|".join(sorted(phrases(words), key=len, reverse=True))


PASSWORDS = _any(
    "passwords?, passwd, passphrases?, passcodes?, pwd, pw, passwort, passwörter, kennwort, mot[ _]de[ _]passe,"
    " mots de passe, mdp, contraseñas?, contrasenas?, clave, senhas?, palavra[ -]passe, wachtwoord, parola d'ordine,"
    " (?:wi-?fi|login|admin|root|my|temp|default|vpn|mail|server|account) pass"
)
SECRETS = _any(
    "api[ -]?keys?, api[ -]?tokens?, access keys?, access tokens?, secret keys?, secret, tokens?, auth tokens?,"
    " authentication tokens?, client secret, private key, api-?schlüssel, zugangsschlüssel, clé d'api, clé api,"
    " clave api, clave de api, chiave api, chave api, chave de api, chave da api, api-sleutel, credentials?"
)
CODES = (
    r"pin(?:[ -]?(?:code|number|nummer))?"
    r"|(?:verification|security|authentication|one[- ]time|log-?in|sign-in|otp|2fa|mfa|recovery|backup|access"
    r"|unlock|door|gate|alarm|entry|confirmation)[ -](?:code|pin|password|passcode)"
    r"|otp|bestätigungscode|sicherheitscode|pincode|geheimzahl|verificatiecode"
    r"|code (?:de vérification|de sécurité|secret|pin|d'accès)"
    r"|código (?:de verificación|de seguridad|pin|de verificação|de segurança)"
    r"|codice (?:di verifica|pin|di sicurezza)"
)
LOGINS = _any(
    "log ?in, sign in, credentials?, creds, zugangsdaten, identifiants?, credenciales, credenziali, credenciais,"
    " inloggegevens, user/pass, username/password"
)
IS = _any(
    "is, was, were, are, be, to, as, becomes, remains, use, try, now, ist, lautet, war, sind, jetzt, est, était, sont,"
    " maintenant, es, era, son, ahora, è, sono, adesso, é, foi, são, agora, luidt, nu"
)
WITH = _any("with, are, is, as, mit, sind, avec, sont, con, son, sono, com, são, met, zijn")
