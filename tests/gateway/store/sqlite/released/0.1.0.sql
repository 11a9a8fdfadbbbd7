-- The database of version 0.1.0, with rows of each kind.
BEGIN TRANSACTION;
CREATE TABLE keys (
            key_id TEXT PRIMARY KEY,
            label TEXT NOT NULL,
            scope TEXT NOT NULL,
            secret_hash BLOB NOT NULL UNIQUE,
            created_at TEXT NOT NULL,
            revoked_at TEXT
        ) STRICT
        ;
INSERT INTO "keys" VALUES('key_edfd98fa1345b7a3','first','operator',X'39C4B44539AFE614C5049ED32F4232644E2CA22DB2B7EB4DA8E1B0BBBC07F445','2026-11-21T10:32:51+00:00',NULL);
CREATE TABLE keys_revision (revision INTEGER NOT NULL) STRICT;
INSERT INTO "keys_revision" VALUES(1);
CREATE TABLE migrations (
        id TEXT PRIMARY KEY,
        applied_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ'))
    ) STRICT
;
INSERT INTO "migrations" VALUES('0001_receipts','2026-11-21T10:32:51Z');
INSERT INTO "migrations" VALUES('0002_vault','2026-11-21T10:32:51Z');
INSERT INTO "migrations" VALUES('0003_keys','2026-11-21T10:32:51Z');
INSERT INTO "migrations" VALUES('0004_policies','2026-11-21T10:32:51Z');
CREATE TABLE policies (
            position INTEGER PRIMARY KEY,
            id TEXT NOT NULL,
            version INTEGER NOT NULL,
            hash TEXT NOT NULL UNIQUE,
            builtin INTEGER NOT NULL,
            document TEXT NOT NULL,
            created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ'))
        ) STRICT
        ;
INSERT INTO "policies" VALUES(1,'custom',1,'cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc',0,'{"id":"custom","version":1,"hash":"cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc","builtin":false}','2026-11-21T10:32:51Z');
CREATE TABLE receipts (
            sequence INTEGER PRIMARY KEY,
            kind TEXT NOT NULL CHECK (kind IN ('receipt', 'outcome')),
            request_id TEXT NOT NULL,
            owner TEXT NOT NULL,
            body TEXT NOT NULL,
            hash TEXT NOT NULL,
            signature TEXT NOT NULL
        ) STRICT
        ;
INSERT INTO "receipts" VALUES(1,'receipt','req_00000000000000000000000000000001','key_0000000000000000','{"created_at":"2026-11-21T10:32:51.754Z","engine":{"model_hash":null,"version":"patterns-1.0+abc"},"entity_counts":{"PERSON":2},"key_id":"key_09d9e469f142da47","operation":"chat","policy":{"hash":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","id":"default","version":1},"previous_hash":"0000000000000000000000000000000000000000000000000000000000000000","protected_digest":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","request_id":"req_00000000000000000000000000000001","risk_level":"low","route":"protected","sequence":1,"tokens":{"external":20,"input":10},"transformation_counts":{"placeholder":2}}','e11def0803ff4daaf4544b6b0537e0caed1145e0d8e0b998f9cadff5bbb0eb6c','35e0e1845a0853e137ff4ddad658e5d015fc5ca7a0cf6dbf8799a369290f75afadb6a762d35473daa7e625bb121fa8955e2d9bdcab6603bae91a0b03b4cce700');
INSERT INTO "receipts" VALUES(2,'outcome','req_00000000000000000000000000000001','key_0000000000000000','{"created_at":"2026-11-21T10:32:51.755Z","guard":null,"key_id":"key_09d9e469f142da47","outcome":"answered","previous_hash":"e11def0803ff4daaf4544b6b0537e0caed1145e0d8e0b998f9cadff5bbb0eb6c","receipt_hash":"e11def0803ff4daaf4544b6b0537e0caed1145e0d8e0b998f9cadff5bbb0eb6c","request_id":"req_00000000000000000000000000000001","sequence":2,"status":200,"tokens":{"input":9,"output":8}}','c9698dc41a81b46793969fd40464d5eaf5e3b16bd44309ec1096d8f62584a8d8','53d39ab46dfdd03d2f97b5ce5bb40307e1528c798b5d70235d613aa9646cc1068357a4d2f53d0a3363dc76a8e4fc9760e6188567d0ce78dbd957ec17df545f0c');
CREATE TABLE receipts_head (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            size INTEGER NOT NULL,
            head TEXT NOT NULL,
            checkpoint TEXT NOT NULL
        ) STRICT
        ;
INSERT INTO "receipts_head" VALUES(1,2,'c9698dc41a81b46793969fd40464d5eaf5e3b16bd44309ec1096d8f62584a8d8','privacy-gateway/receipts
2
yWmNxBqBtGeTlp/UBGTV6vXjsWvUQwnsEJbY9iWEqNg=

— privacy-gateway/receipts ZEl3tOoRWyWIztX0MwN9Zk4ZD4e+D7D2bf3WB3yXqf1iFHTaaoagZlue/DYZw/oqGH9COkVeWz6p473gaamVVHK2FQw=
');
CREATE TABLE usage (
            meter TEXT NOT NULL,
            name TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (meter, name)
        ) STRICT, WITHOUT ROWID
        ;
INSERT INTO "usage" VALUES('entities','PERSON',2);
INSERT INTO "usage" VALUES('operations','chat',1);
INSERT INTO "usage" VALUES('outcomes','answered',1);
INSERT INTO "usage" VALUES('risk_levels','low',1);
INSERT INTO "usage" VALUES('routes','protected',1);
INSERT INTO "usage" VALUES('tokens','external',20);
INSERT INTO "usage" VALUES('tokens','input',10);
INSERT INTO "usage" VALUES('tokens','reported_input',9);
INSERT INTO "usage" VALUES('tokens','reported_output',8);
INSERT INTO "usage" VALUES('transformations','placeholder',2);
CREATE TABLE vault_rows (
            session_id TEXT NOT NULL REFERENCES vault_sessions (session_id) ON DELETE CASCADE,
            row INTEGER NOT NULL,
            sealed BLOB NOT NULL,
            PRIMARY KEY (session_id, row)
        ) STRICT
        ;
INSERT INTO "vault_rows" VALUES('vs_4da3b50153db4f1469efc142474fc353',0,X'697E9215DD5ECCAAAF9877465F3D9B4256722F6E3CFCFB40A0F7B25DCD2730F27A4BAA196B24FCAD0543B3BF38453F41694368DF687F06AEAE0D93BDFBB00332F4BABCFA0364395A574264ADAFB2D64737987AB60CC8720CE4B37FB2DE95BBA487B9A00CC2DD2622ABDCAFCE87C6E749972C869F0A0F7DA4D01069BFAEE04450134596B0E1D6469F33F27307E4FEE5EBAB2D955E023CD08FCEA276CEB58834F6B1DD69A1C3BB28DEF187A95A3EEFAC141ED9FD7B82329A7BB73817A0DF17D3CEDB9658C9212345B376C602D644E6660081CAC1F8B62ABBAE38BB53C846C3A70158BD0261D72453D8E8A69B433268D87EB9F93674D353AA5A8E4BAACEE264D3CF4DE4B0B23313E898A0733375F2347642DA55746D88433401FB65C2C6');
CREATE TABLE vault_sessions (
            session_id TEXT PRIMARY KEY,
            token_hash BLOB NOT NULL,
            owner TEXT NOT NULL,
            expires_at REAL NOT NULL,
            rows INTEGER NOT NULL DEFAULT 0,
            held INTEGER NOT NULL DEFAULT 0,
            max_values INTEGER NOT NULL,
            purged INTEGER NOT NULL DEFAULT 0
        ) STRICT
        ;
INSERT INTO "vault_sessions" VALUES('vs_4da3b50153db4f1469efc142474fc353',X'7F887B2ED601FDD6D7937CC466C82C56C706B9F69372EF24658B28AD74F1AD2B','key_0000000000000000',1795257231.0,1,1,10000,0);
CREATE UNIQUE INDEX receipts_by_request ON receipts (request_id, kind);
CREATE INDEX receipts_by_owner ON receipts (owner, sequence) WHERE kind = 'receipt';
CREATE INDEX vault_sessions_by_expiry ON vault_sessions (purged, expires_at);
CREATE UNIQUE INDEX policies_custom ON policies (id, version) WHERE builtin = 0;
COMMIT;
