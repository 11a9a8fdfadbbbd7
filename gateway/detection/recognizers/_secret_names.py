"""What the name before a value says about it: a password, a made secret, only maybe a key, or none of these.

`DB_PASSWORD`, `oktaApiToken` and `x-api-key` tell; `password_hint`, `nextPageToken`, `public_key` and `tokenizer`
do not. Names are read word by word, in any of the ways programs join words.
"""

import re
from enum import Enum, auto

from gateway.detection.entropy import word_set


class Kind(Enum):
    """What a name says of its value, and so how the value has to look to count."""

    PASSWORD = auto()
    """Chosen by a person: nearly anything but a plain word."""
    SECRET = auto()
    """Made by a machine: random characters."""
    MAYBE_KEY = auto()
    """Some key: only long and very random values count."""


# What may follow `pass`, `token` or `key` inside one word is not listed: these are whole words or their endings.
_CHOSEN = word_set(
    "password passwords passwd pwd pwds pw psw pswd pass passphrase passphrases passcode passcodes passwort kennwort"
    " contraseña contrasena contraseñas clave senha senhas wachtwoord mdp motdepasse parola pword psk"
)
_CHOSEN_ENDINGS = (
    "password",
    "bindpw",
    "rootpw",
    "adminpw",
    "userpw",
    "dbpw",
    "dbpass",
    "ftppass",
    "smtppass",
    "mailpass",
    "sqlpass",
    "pgpass",
    "authpass",
    "loginpass",
    "ldappass",
    "wifipass",
    "vpnpass",
    "userpass",
    "rootpass",
    "requirepass",
    "adminpass",
    "storepass",
    "keypass",
    "wpapsk",
    "passwd",
    "passphrase",
    "passwort",
    "kennwort",
    "wachtwoord",
)
_MADE = word_set(
    "secret secrets secrete token tokens apikey apikeys accesskey secretkey privatekey masterkey authkey accountkey"
    " sharedaccesskey credential credentials cred creds passkey bearer authorization jwt pat otp totp salt"
)
_MADE_ENDINGS = ("apikey", "token", "secret", "secretkey", "accesskey", "privatekey", "credentials", "creds")
_KEY_QUALIFIERS = word_set(
    "api access account shared private secret master signing sign signature encryption decryption encrypt crypto"
    " validation unseal cipher aes hmac"
    " jwt client consumer service license licence webhook deploy session storage admin server subscription ssh"
    " integration ingest ingestion write instrumentation personal machine root merchant partner payment security token"
    " bot backup auth authentication authorization app application bearer user team org project management iam cloud"
    " secondary live test sandbox production prod staging rest gateway upload mail email sms push maps data"
)
# An `X_key` of one of these is what X calls its credential.
_VENDORS = word_set(
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
# Words after the telling one that turn the value into something about it.
_ABOUT = word_set(
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
    " variable var env info details description desc comment note notes auth method methods mode option options rule"
    " rules scope scopes permission permissions issuer audience owner usages created modified last date time"
    " resolver factory builder generator helper util utils service interface impl exception selector generation"
    " lookup encoding encoder decoder parser codec board word words stroke press pressed down up code event events"
    " frame frames space ring chain hole note pad pair pairs signature kid operation ops derivation material"
    " encryption encrypted hashing cipher complexity protected protection strategy backend engine plugin verification"
    " encode decode split replace strip join format startswith endswith get match find append lower upper"
    " recovery grant flow manager entry gecos expire"
)
# A token of these is a place in a list or a state, and opens nothing.
_PLACES = word_set("page sync delta skip resume continuation pagination")
_PLACE_TOKEN = re.compile(r"(?:page|sync|delta|skip|resume|continuation|pagination)tokens?")
# Words right before it that do the same.
_BEFORE = (
    word_set(
        "public csrf xsrf authenticity eos bos pad unk sep cls mask"
        " next prev previous cancellation publishable site forgot require requires show hide toggle is has no"
        " lock action idempotency update export"
        " input output prompt completion total max min num watch change"
    )
    | _PLACES
)
_NO_KEY = word_set(
    "primary foreign public cache sort partition bucket object row column index schema sequence map dict hash unique"
    " composite natural surrogate idempotency dedup routing group locale translation i18n message event registry"
    " query search lookup field property attribute config setting option menu arrow function hot short shortcut"
    " modifier press keyboard host ssh hostkey known minisat key kms cmk"
)
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-zñ0]*[a-zñ]|[A-Z]+|\d+")
_LONGEST = 80
_LONGEST_PLACE = 16
_PLACE = re.compile(rb"(?:^|[^a-z])([a-z]+)[ \t_\-]+$")
_OWNER = re.compile(rb"\b([A-Za-z]{2,24})[\"']?(?::|__|[ \t]{0,8}=)[ \t]{0,8}(?:\{|\r?\n)?[ \t\r\n]{0,16}[\"']?$")
_LONGEST_OWNER = 64
_OWNERS = (
    word_set("jwt jwtsettings jwtconfig jwtoptions api auth authentication signing encryption crypto hmac aes")
    | _VENDORS
)


def kind_of(name: str) -> Kind | None:
    """What `name` (as written, up to its last 80 characters) promises, or None."""
    words = [word.lower() for word in _WORDS.findall(name[-_LONGEST:])]
    for at in range(len(words) - 1, -1, -1):
        kind = _kind_of_word(words, at)
        if kind is None:
            continue
        after = [word for word in words[at + 1 :] if not word.isdigit()]
        if (
            any(word in _ABOUT for word in after)
            or (words[at] == "pass" and after and after[-1] not in {"plain", "clear"})
            or (at and words[at - 1] in _BEFORE)
        ):
            return None
        return kind
    return None


def is_place(data: bytes, at: int) -> bool:
    """Whether the word before `token`, which stands at `at`, makes it a cursor: `next page token`, `sync token`."""
    before = _PLACE.search(data[max(0, at - _LONGEST_PLACE) : at].lower())
    return before is not None and before[1].decode() in _PLACES


def kind_below(data: bytes, at: int) -> Kind | None:
    """What a mere `key` is, which stands at `at`, by what it belongs to: `Jwt:Key`, `"signing": {"key"`."""
    owner = _OWNER.search(data[max(0, at - _LONGEST_OWNER) : at])
    return Kind.SECRET if owner is not None and owner[1].decode().lower() in _OWNERS else None


def _kind_of_word(words: list[str], at: int) -> Kind | None:
    word = words[at]
    if _PLACE_TOKEN.fullmatch(word):
        return None
    if word in _CHOSEN or word.endswith(_CHOSEN_ENDINGS):
        return Kind.PASSWORD
    if word in _MADE or word.endswith(_MADE_ENDINGS):
        return Kind.SECRET
    if word == "auth" and at == len(words) - 1:
        return Kind.SECRET
    if word in {"key", "keys"} and at:
        before = words[at - 1]
        if before in _KEY_QUALIFIERS or any(one in _VENDORS for one in words[:at]):
            return Kind.SECRET
        return None if before in _NO_KEY else Kind.MAYBE_KEY
    return None
