// Made-up people, with numbers of official test ranges.
export const SAMPLES = {
  Letter: `Anna Schmidt
Lindenstraße 12
10969 Berlin

Dear Mr Keller,

please move my appointment of 3 May. You reach me at anna.schmidt@acme.test or +49 30 901820.
My date of birth is 14.03.1985. My new account is IBAN DE89 3704 0044 0532 0130 00.

Kind regards
Anna Schmidt`,
  CV: `Name: Jonas Weber
Date of birth: 02/11/1990
Address: 10 Station Road, Ely, CB7 4EJ
Email: jonas.weber@mail.test
Phone: +44 20 7946 0958
National Insurance number: QQ 12 34 56 C

Experience
2016-2024  Nurse at the hospital in Cambridge`,
  Invoice: `Invoice 2024-0117
Bill to: Maria Rossi, Via Roma 5, 00184 Roma
VAT number: IT00743110157
Card: 4111 1111 1111 1111, expires 09/27
Total: 1,240.00 EUR
IBAN: GB82 WEST 1234 5698 7654 32`,
  Log: `2024-05-03T10:12:44Z INFO login user=jroe ip=203.0.113.42 session=7f3a91
2024-05-03T10:12:45Z WARN smtp to=<jane.roe@acme.test> refused
2024-05-03T10:12:46Z ERROR db postgres://app:S3cr-tPw9@db.acme.test:5432/prod timed out
2024-05-03T10:12:47Z INFO Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U`,
  Code: `import os
# TODO(jane.roe@acme.test): rotate this
GITHUB_TOKEN = "ghp_x7Kq2Lm9Pz4Rt8Wv1Yb6Nc3Ad5Ef0GhJkQs"
DB_PASSWORD = "correct-horse-Battery9"

def connect(host="10.20.30.40"):
    return os.environ.get("DB", f"mysql://root:{DB_PASSWORD}@{host}/crm")`,
  "Chat in French": `Bonjour, je m'appelle Camille Dupont, née le 12 juin 1979.
Mon numéro de sécurité sociale est 2 79 06 75 116 042 32.
Vous pouvez m'appeler au +33 6 12 34 56 78 ou m'écrire à camille.dupont@exemple.test.
Virement : FR14 2004 1010 0505 0001 3M02 606`,
};
