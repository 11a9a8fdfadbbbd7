"""The words for secrets: as people say them, as programs name them, and the words around them that lead to a value or
tell that none follows. Phrases are RE2 expressions to be read in any case; English, German, French, Spanish, Italian,
Portuguese and Dutch in full, other languages with what names a password and links it to its value.
"""

import re

from gateway.detection.entropy import phrases, word_set


def _any(*words: str) -> str:
    return "|".join(sorted(phrases(",".join(words)), key=lambda phrase: (-len(phrase), phrase)))


# What secrets are called

_WORDS = (
    "password, passwd, passphrase, passcode, pwd, pw, passwort, kennwort, mdp, contraseña, contrasena, clave, senha,"
    " wachtwoord"
)
PASSWORDS = _any(
    _WORDS,
    "passwords, passphrases, passcodes, passwörter, mots? de passe, mot_de_passe, contraseñas, senhas, palavra["
    " -]passe, parola d'ordine, wlan-?schlüssel, netzwerkschlüssel, clé (?:du )?(?:wi-?fi|wpa2?|réseau), key content,"
    " (?:wi-?fi|wlan|network|wpa[23]?|wep|pre-shared|isakmp)(?: security)? key, the pass for,"
    " (?:wi-?fi|login|admin|root|my|temp|default|vpn|mail|server|account) pass, mot de passe"
    " (?:provisoire|temporaire|initial), contraseña (?:temporal|provisional|inicial), senha"
    " (?:temporária|provisória|inicial), password (?:temporanea|provvisoria|iniziale)",
)
PASSWORDS_ABROAD = _any(
    "has[łl](?:o|em|a), hesl(?:o|em|a), lösenord(?:et)?, adgangskode(?:n)?, kodeord(?:et)?, passord(?:et)?,"
    " jelsz(?:ó|ava), salasana(?:ni)?, parol[ăa](?:m|sı|nız)?, şifre(?:m|si|niz|miz)?, lozinka, geslo,"
    " (?:moja|naša|vaša|nova|wi-?fi) šifra, slaptažodis, parool, mật khẩu, kata (?:sandi|laluan), парол[ьяею](?:м)?,"
    " парола, гасло, лозинка, κωδικός πρόσβασης, contrasenya, wagwoord, fjalëkalimi?, lykilorð, գաղտնաբառ, პაროლი,"
    " סיסמ[הא], كلمة (?:المرور|السر), رمز عبور, पासवर्ड, পাসওয়ার্ড, รหัสผ่าน, 密码, 密碼, 口令, パスワード, 暗証番号,"
    " 비밀번호, 비번, 암호, 패스워드"
)
SECRETS = _any(
    "api[ -]?keys?, api[ -]?tokens?, access keys?, access tokens?, secret keys?, secret, tokens?, auth tokens?,"
    " authentication tokens?, client secret, private key, api-?schlüssel, zugangsschlüssel, clé d'api, clé api,"
    " clave api, clave de api, chiave api, chave api, chave d[ea] api, api-sleutel, credentials?"
)
CODES = _any(
    r"p(?:in|uk)(?:[ -]?(?:code|number|nummer))?, pass(?:key|code), pincode, otp, geheimzahl, verificatiecode,"
    r" (?:alarm|tür|haus|tor|safe|tresor|zugangs)[\w-]*[ -]?code, bestätigungscode, sicherheitscode,"
    r" (?:verification|security|authentication|one[- ]time|log-?in|sign-in|otp|2fa|mfa|recovery|backup|access|unlock"
    r"|door|gate|alarm|entry|confirmation)[ -](?:codes?|pin|password|passcode),"
    r" code (?:de vérification|de sécurité|secret|pin|d'accès), codice (?:di verifica|pin|di sicurezza),"
    r" código (?:de verificación|de seguridad|pin|de verificação|de segurança)"
)
CODES_ABROAD = _any(
    "пин-?код, код (?:подтверждения|доступа|безопасности|підтвердження), kod (?:pin|weryfikacyjny), ověřovací kód,"
    " pin[ -]?kod(?:u|en)?, doğrulama kodu, verifi(?:erings|kations)kode?n?, engangskode,"
    " κωδικός (?:επαλήθευσης|επιβεβαίωσης|pin), mã (?:xác (?:nhận|minh|thực)|pin|otp), kode (?:verifikasi|otp),"
    " קוד (?:אימות|סודי), الرقم السري, رمز (?:التحقق|التأكيد), ओटीपी, รหัส (?:otp|pin), 验证码, 驗證碼, 認証コード,"
    " 確認コード, 인증 ?번호, 인증 ?코드"
)
LOGINS = _any(
    "wi-?fi, wlan, log ?in, sign in, basic[ -]auth, credentials?, creds, zugangsdaten, identifiants?, credenciales,"
    " credenziali, credenciais, inloggegevens, user(?:name)? ?/ ?pass(?:word)?"
)
ACCOUNTS = (
    r"user(?:[ _-]?(?:name|id))?|login|e-?mail|account|benutzer(?:name)?|utilisateur|usuario|utente|gebruiker(?:snaam)?"
)
"""What the account is called that a password opens."""
RECOVERY = (
    r"(?:(?:\b|_)(?:back-?up|recovery|rescue|scratch|single[ _\-]?use|one[ _\-]?time|emergency|2fa|mfa|activation"
    r"|reset|wiederherstellungs|notfall|einmal|freischalt|aktivierungs|herstel|activatie)[ _\-]?(?:codes?|keys?)\b"
    r"|\b(?:i?tans?|mtan|pushtan)\b|\bcodes? de (?:secours|récupération|sauvegarde|activation)\b"
    r"|\bcódigos? de (?:respaldo|recuperación|recuperação|backup|activación|ativação)\b"
    r"|\bcodic[ei] di (?:backup|recupero|emergenza|attivazione)\b)"
)
SEEDS = (
    r"(?:(?:\b|_)(?:(?:seed|recovery|mnemonic|wallet|back-?up|wiederherstellungs|herstel)[ _\-]?"
    r"(?:phrase|words?|wörter|zin)|mnemonic|(?:wallet|bip-?39)[ _\-]?seed|(?:12|24|twelve|twenty-four)[ \-]words"
    r"|phrase (?:de récupération|secrète)|frase (?:semilla|secreta|di recupero|de recuper\S{2,5}))\b"
    r"|助记词|助記詞|(?:сид|мнемоническ|seed)\S{0,6}[ \-]фраз[аыуе])"
)

# What leads from the word to the value

IS = _any(
    "is, was, were, are, be, to, as, becomes, remains, use, try, now, from now on, ist, lautet, war, sind, jetzt,"
    " ab (?:sofort|jetzt|heute), est, était, sont, maintenant, c'est, es, era, son, ahora, è, sono, adesso, é, foi,"
    " são, agora, luidt, nu"
)
IS_ABROAD = _any("jest, to, je, är, er, on, este, là, adalah, это, є, είναι, הוא, היא, هي, है, คือ")
WITH = _any("with, w/, are, is, as, mit, sind, avec, sont, con, son, sono, com, são, met, zijn")
FOR = _any(
    "for, to, of, from, on, set to, für, fürs, zu, zum, zur, vom, von, des, der, pour, de, du, para, del, do, da, per,"
    " della, dell', di, van, voor"
)
"""What leads to the thing that the password opens."""
OWN = _any(
    "my, our, your, his, her, their, mein, meine, unser, dein, ihr, sein, mon, notre, votre, son, mi, nuestra, tu, su,"
    " la mia, la tua, la sua, minha, a minha, nossa, mijn, onze"
)
THE = _any("the, das, le, la, il, a, het")
NEW = _any(
    "nueva, nuova, nova, nouvelle, actual, attuale, provisional, temporal, temporária, provisória, tijdelijk, again,"
    " please, pls, now, bitte, svp"
)
"""What is said of it behind the word."""
PLEASE = _any("pls, plz, please, bitte, svp, s'il te plaît, por favor, per favore")
HAPPENED = (
    r"(?:(?:is|was|has been|have been|now|wurde|ist|a été|ha sido|è stata|foi|is)\s){0,2}(?:generated|created|set|reset"
    r"|changed|updated|issued|assigned|generiert|erzeugt|erstellt|geändert|gesetzt|zurückgesetzt|vergeben|généré|créé"
    r"|changé|modifié|réinitialisé|generada|creada|cambiada|cambiata|generata|impostata|gerada|alterada|redefinida"
    r"|gewijzigd|ingesteld|aangemaakt)"
)
CHANGED = (
    r"chang|modifi|remplac|mis |cambi|puesto|actualiz|mud|alter|troc|troq|redefin|impost|aggiorn|gewijzigd|verander"
    r"|gezet|ge[äa]ndert|gesetzt|umgestellt|zur[üu]ckgesetzt"
)
"""How words begin that tell of a change, of a password to what follows."""

# What is no value

NO_PASSWORD = word_set(
    "weak strong long short secure safe unsafe fine good great here there below above gone lost right simple complex"
    " easy hard blank unique random enough different nothing something anything stuck longer shorter stronger weaker"
    " better older newer known unknown again later today always never still really currently probably also just only"
    " okay ready someone everything everywhere yours theirs ours shown mandatory bcrypt argon falsch richtig sicher"
    " unsicher schwach stark kurz lang bekannt leer jetzt nicht immer noch incorrecto incorrecta corto corta largo"
    " larga seguro segura facile faible forte longue courte obligatoire obligatoria perdu perdue onjuist verkeerd"
    " sterk zwak errada errado fraca sbagliata corretta debole"
)
"""Words that say of a password what it is like, beside those that end as adjectives do."""
NO_VALUE = re.compile(
    r"(?i)(?:wpa|wep|iso|rfc|utf|http|socks|tls|ssl|sha|aes|rsa|nist)[\-_ ]?\d[\w.\-]*|v?\d+(?:\.\d+)+[\w.+\-]*"
    r"|\d+[~\-]\d+|[a-z]+\d+(?:\.\d+)+|[a-z\-]+(?:/[a-z0-9_\-]+)+|\d{4}-\d\d-\d\d[t_]?[\d:.]*z?"
)
"""What looks like a password: standards, versions, rules, paths, dates. `WPA2-Enterprise`, `v1.2.3`, `6~20`."""
STAND_INS = word_set(
    "none null nil true false undefined string str int integer bytes byte bool boolean text varchar char number object"
    " any void auto yes no on off password passwords passwd pwd pass secret secrets token tokens key keys change_me"
    " test tests testing required optional hidden redacted masked empty blank default value values input output env"
    " getenv secretstr the not now self that what when this username user root admin guest foobar foo bar baz qux"
    " passphrase passcode passwort kennwort contraseña contrasena clave senha wachtwoord motdepasse credentials"
    " credential basic bearer digest negotiate oauth plain plaintext login private public valid invalid wrong correct"
    " missing unknown encrypted encoded decoded stored saved const final static function return await async new let"
    " var abstract override lambda def elif else then todo tbd fixme n/a na nan inf type types kind varies various"
    " postgres mysql mongo redis vault keychain keyring prompt stdin stdout file email name"
    " reset changed updated incorrect expired define defined undef notasecret anonymous"
)
"""Words that stand where a value will be filled in, or that code has there."""
OF_RULES = word_set(
    "must should shall min max minimum maximum least most characters character chars digit digits letter letters"
    " zeichen caractères caracteres caratteri tekens password passphrase passwort between required allowed enter type"
    " wrong invalid expires expired attempts days hours minutes muss mindestens entre"
)
"""Words of the sentences that say how a password has to be."""
OF_SENTENCES = OF_RULES | word_set(
    "the your our his her their and for not nor but with from this that these those its you she they them who what"
    " when where which how why all any new old one two again does did has have had can could will would cannot without"
    " please same match matches reset forgot forgotten change changed update updated confirm repeat show hide use"
    " used using set user users name email account login sign hint field text value secret key token tokens code"
    " stored saved sent valid empty encrypted hashed plain missing unknown provided given here there only also than"
    " then into about after before first last next der die das und mit von den dem des ein eine les des une pour avec"
    " dans que los las una por para con del che per della non uma com não het een van voor met"
)
OF_NO_SEED = word_set(
    "the and for are was were has had not but with from your our his her its which been them who how why could should"
    " would might does did these those than some many"
)
"""Words of sentences of which BIP 39 has none."""

# How programs name secrets, word by word

TELLING = (
    r"pass|pwd|pw|psw|psk|secret|token|key|cred|kennwort|contrase|clave|senha|wachtwoord|mdp|parola|jwt|bearer"
    r"|authorization|totp|_salt"
)
"""What is in every telling name, in any case."""
CHOSEN = word_set(
    _WORDS.replace(",", " ") + " passwords pwds pws psw pswd pass passphrases passcodes contraseñas senhas motdepasse"
    " parola pword psk"
)
CHOSEN_END = re.compile(
    r"(?:password|passwd|passphrase|passwort|kennwort|wachtwoord|wpapsk|requirepass|(?:bind|root|admin|user|db|ftp|smtp"
    r"|mail|sql|pg|auth|login|ldap|wifi|vpn|store|key)(?:pw|pass))$"
)
MADE = word_set(
    "secret secrets secrete token tokens apikey apikeys accesskey secretkey privatekey masterkey authkey accountkey"
    " sharedaccesskey credential credentials cred creds passkey bearer authorization jwt pat otp totp salt"
)
MADE_END = re.compile(r"(?:apikey|token|secret|secretkey|accesskey|privatekey|credentials|creds)$")
KEY_QUALIFIERS = word_set(
    "api access account shared private secret master signing sign signature encryption decryption encrypt crypto"
    " validation unseal cipher aes hmac"
    " jwt client consumer service license licence webhook deploy session storage admin server subscription ssh"
    " integration ingest ingestion write instrumentation personal machine root merchant partner payment security token"
    " bot backup auth authentication authorization app application bearer user team org project management iam cloud"
    " secondary live test sandbox production prod staging rest gateway upload mail email sms push maps data"
)
"""An `X_key` of one of these is a secret."""
VENDORS = word_set(
    "adafruit adobe airtable algolia alibaba amazon amplitude anthropic artifactory asana atlassian auth0 aws azure"
    " beamer bitbucket bittrex brevo calendly cerebras circleci clearbit clickhouse cloudflare codecov cohere coinbase"
    " confluent contentful databricks datadog deepgram deepseek digitalocean discord docker doppler dropbox"
    " dynatrace elastic elevenlabs etsy facebook fastly figma finicity finnhub firebase flickr flutterwave freshbooks"
    " gcp gemini github gitlab gitter gocardless google grafana groq harness heroku honeycomb hubspot huggingface ibm"
    " infura intercom jenkins jfrog jira kraken kucoin launchdarkly linear linkedin linode logdna lob looker mailchimp"
    " mailgun mapbox mattermost maxmind meraki messagebird mistral mixpanel mongodb netlify newrelic notion npm"
    " nvidia nytimes octopus okta openai openrouter pagerduty perplexity pinecone plaid planetscale postman postmark"
    " prefect pulumi pusher pypi rapidapi razorpay readme replicate rollbar salesforce scalingo segment sendbird"
    " sendgrid sentry shippo shopify sidekiq slack snyk softlayer sonar sonarqube sourcegraph splunk spotify square"
    " squarespace stability stripe sumologic supabase tailscale telegram terraform travis travisci trello twilio twitch"
    " twitter typeform vault vercel vonage vultr webex weatherapi xray yandex yelp youtube zendesk zoom"
)
"""An `X_key` of one of these is what X calls its credential."""
OWNERS = VENDORS | word_set(
    "jwt jwtsettings jwtconfig jwtoptions api auth authentication signing encryption crypto hmac aes"
)
"""What a mere `key` below one of these opens is private."""
ABOUT = word_set(
    "id ids identifier name names file filename files path paths dir directory folder url urls uri endpoint host type"
    " types kind count counts counter length len size sizes limit limits max min maximum minimum num number field"
    " fields label labels placeholder hint text title message msg error errors policy policies expiry expires expire"
    " expiration expired exp ttl age lifetime timeout duration rotation version algorithm alg algo format prefix"
    " suffix header headers param params parameter pattern regex regexp re required enabled disabled enable valid"
    " validity validator validation index idx ref reference arn provider manager store vault location status state"
    " reset change changed update updated strength score attempts attempt usage cost list group groups class style"
    " icon color colors colour input form page view link button dialog modal screen component schema model table row"
    " column action handler callback middleware function method spec mock at on in by per pair mapping map dict"
    " iter iterator chars alphabet charset digest fingerprint thumbprint checksum hash hashes hashed salt source"
    " variable var env info details description desc comment note notes auth methods mode option options rule"
    " rules scope scopes permission permissions issuer audience owner usages created modified last date time"
    " resolver factory builder generator helper util utils service interface impl exception selector generation"
    " lookup encoding encoder decoder parser codec board word words stroke press pressed down up code event events"
    " frame frames space ring chain hole pad pairs signature kid operation ops derivation material"
    " encryption encrypted hashing cipher complexity protected protection strategy backend engine plugin verification"
    " encode decode split replace strip join startswith endswith get match find append lower upper"
    " recovery grant flow entry gecos"
)
"""Words after the telling one that turn the value into something about it."""
PLACES = word_set("page sync delta skip resume continuation pagination")
"""A token of these is a place in a list or a state, and opens nothing."""
BEFORE = PLACES | word_set(
    "public csrf xsrf authenticity eos bos pad unk sep cls mask next prev previous cancellation publishable site forgot"
    " require requires show hide toggle is has no lock action idempotency update export input output prompt completion"
    " total max min num watch change"
)
"""Words right before the telling one that do the same as those after it."""
NO_KEY = word_set(
    "primary foreign public cache sort partition bucket object row column index schema sequence map dict hash unique"
    " composite natural surrogate idempotency dedup routing group locale translation i18n message event registry"
    " query search lookup field property attribute config setting option menu arrow function hot short shortcut"
    " modifier press keyboard host ssh hostkey known minisat key kms cmk"
)
