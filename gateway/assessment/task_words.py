"""The words that tell what a request asks for, by category, in English, German, French, Spanish, Italian,
Portuguese and Dutch (and a few in Chinese and Japanese).

`word` is that word alone, `stem*` any word that begins so (at least four letters), `a|b+c+d*` words in a row, each
with its alternatives, `a+..+b` the same with up to a dozen words between, within a sentence; `~x` stands for x
anywhere, for scripts without spaces. All in lower case; apostrophes and hyphens part words. The order of the
categories is the order in which they are reported: first what is to be done, then the field.
"""

CATEGORIES: dict[str, str] = {
    "summarise": """
        summar* condense* gist recap* tldr tl+dr sum+up sum+it|this|that+up key+points|takeaways|facts
        zusammenfass* kurzfassung* kernaussage* kernpunkt* fass|fasse|fassen|fasst+..+zusammen
        résum* synthès* synthétis*
        resume+este|esta|estos|estas|el|la|los|las|o|a|os|as|isto|esto resumen* resumir resuma resumo resúm*
        puntos+clave pontos+principais riassum* riassunt* sintetizz* sintetiz* punti+chiave samenvat* vat+..+samen
        hoofdpunten ~总结 ~摘要 ~概括 ~要約 ~まとめて
    """,
    "translate": """
        translat* übersetz* tradu* tradurre vertaal* vertal* ~翻译 ~翻譯 ~翻訳
        into|to+english|german|french|spanish|italian|dutch|portuguese|chinese|japanese|polish
        auf+englisch|deutsch|französisch|spanisch|italienisch|niederländisch
        ins+englische|deutsche|französische|spanische|italienische|niederländische
        en+anglais|français|allemand|espagnol|italien|inglés|alemán|francés|italiano|inglês
        in+inglese|tedesco|francese|spagnolo in+het+engels|duits|frans|nederlands
    """,
    "draft": """
        draft* write compose reply+to respond+to+the|this|him|her|them|my schreib* verfass* formulier*
        entwirf entwurf* entwerf* rédig* écris écrire écrivez redacta redactar redacte escrib* scriv* redigi
        redigere bozza escrev* redij* redigir rascunho schrijf* opstel* stel+..+op
        cover|rejection|reference+letter thank+you+letter ~写一 ~起草 ~書いて
    """,
    "rewrite": """
        rewrit* rephras* paraphras* proofread* reword* shorten* simplif* polish improve+the|this|my
        correct+the|this|my+grammar|spelling|text|english grammar umschreib* umformulier* korrigier*
        korrektur* verbesser* vereinfach* kürze reformul* corrig* corrij* correg* riscriv* riformul* semplific*
        reescrib* reescrev* mejora melhore migliora améliore* raccourci* herschrij* herformul* verbeter*
        vereenvoudig* ~改写 ~校对 ~書き直
    """,
    "extract": """
        extract* list+all|every|the pull+out find+all|every extrahier* entnimm entnehm* liste|listen+..+auf
        auflist* extrai* extraye* extrae* extraer estrai* estrarre estraz* énumèr* relève elenc* enumera*
        haal+..+uit opsomm* extraheer* ~提取 ~抽出
    """,
    "classify": """
        classif* categori* kategori* klassifi* clasific* einordn* einstuf* label triage* sentiment*
        is|as+spam|urgent|positive|negative is|as+this|it+spam|urgent|positive|negative etiquet* catégor* indel*
        ~分类 ~分類
    """,
    "answer": """
        answer explain* antworte* beantwort* erklär* répond* expliqu* respond* explic* rispond* spieg* antwoord*
        beantwoord* uitleg* ~回答 ~解释 ~説明
    """,
    "compare": """
        compar* vergleich* confront* vergelijk* difference|differences+between unterschied|unterschiede+zwischen
        différence|différences+entre diferencia|diferencias|diferença|diferenças+entre differenza|differenze+tra
        verschil|verschillen+tussen
    """,
    "verify": """
        verif* vérif* validat* validier* valider valida validar checksum* check+whether|if|that
        is|are+..+valid|correct|genuine prüf* überprüf* gültig* contrôl* comprueb* comprob* controlla controllare
        controleer* geldig* válid* ~验证 ~検証
    """,
    "code": """
        this|the|my|your|following|source|write|review|fix|some+code code+review python javascript typescript
        java sql bash regex* bug bugs debug* refactor* compil* traceback stacktrace* stack+trace unit+test|tests
        algorithm* golang rust html css docker* kubernetes shell+script api a|this|the|my+function|script|class|program
        programmier* quellcode fehlermeldung* skript programmeer* broncode
        código+fuente|fonte|en|em|python|java|sql codice+sorgente|in|python|java|sql
        un|une+fonction|programme una|un|uma+función|funzione|programa|programma|função eine|einer|einen+funktion
        ~``` ~代码 ~コード
    """,
    "analyse_data": """
        dataset* csv spreadsheet* statistic* statistik* statistiq* statistich* estadístic* estatístic* correlat*
        regression median outlier* histogram* pivot+table bar|line|pie+chart plot+the|a|this
        analyse|analyze|analysing|analyzing|analysiere|analysieren|analysez|analyser|analiza|analizar|analizza|analise|analisar|analyseer|werte|evaluate|explore+..+data|daten|données|datos|dati|dados|gegevens|figures|zahlen|tabelle|table|chiffres|cijfers
        data|daten+analysis|analyse|auswertung datenanalyse datenauswertung trend|trends+in|over|of durchschnitt*
        moyenne* promedio* gemiddeld* korrel* compute|calculate+the+average|mean|sum ~数据分析 ~データ分析
    """,
    "legal": """
        legal* contract contracts contractual* clause* lawsuit* attorney* lawyer* court courts statute statutes
        statutory plaintiff* defendant* liabilit* terms+and+conditions terms+of+service nda gdpr litigat* tenanc*
        lease vertrag* verträge* rechtlich* klausel* anwalt* anwält* gericht gerichts* klage kläger* haftung*
        mietvertrag* paragraf* dsgvo contrat* juridi* jurídic* giuridic* avocat* tribunal* cláusul* clausul* clausol*
        abogad* demanda contratto contratti avvocat* advogad* advocaat* rechtbank* overeenkomst* huurcontract* rgpd
        mietrecht* arbeitsrecht* kündigungsschutz* ~合同 ~法律 ~契約
    """,
    "medical": """
        medic* médic* médec* medisch* medizin* patient* patiënt* pazient* pacient* diagnos* symptom* síntom* sintom*
        clinic* clíni* klini* hospital* hôpital* ospedal* ziekenhuis* physician* prescri* therap* thérap* terap*
        disease* dosage* anamnes* arzt* ärzt* krankheit* befund* krankenhaus* behandlung* maladie* ordonnance*
        enfermedad* malatt* referto doença* ziekte* huisarts* discharge+letter|summary entlassungsbrief* ~病历 ~患者
    """,
    "financial": """
        financ* finanz* invoice* bank banks banking loan loans mortgage* tax taxes taxation budget* investment*
        investor* accounting payment* balance+sheet credit+card|cards iban rechnung* kredit* steuer steuern
        steuererklärung* steuerbescheid* einkommensteuer* überweis* konto kontoauszug* kontonummer* bilanz* zahlung*
        factur* banque* bancaire* impôt* virement* paiement* comptab* impuesto* cuenta+bancaria préstamo* pago pagos
        transferencia* fattur* bonific* bancari* tasse mutuo pagament* fatura* imposto* empréstimo* factuur* belasting*
        lening* hypothe* bankrekening* betaling* boekhoud* ~发票 ~请求書 ~請求書
    """,
    "personnel": """
        employee* employment hr human+resources hiring recruit* candidate* candidat* applicant*
        job+application|interview cv payroll* salary salaries performance+review|reviews onboarding dismissal
        mitarbeiter* personalabteilung* personalakt* bewerb* arbeitszeugnis* gehalt* gehälter lebenslauf* arbeitnehm*
        kündigung*
        employé* salarié* embauche* recrut* salaire* ressources+humaines licenci* emplead* nómina* salario*
        recursos+humanos despido* dipendent* assunzion* stipendi* risorse+umane curricul* funcionári* salári*
        werknemer* medewerker* sollicit* salaris* personeel* loonstrook* ~员工 ~简历 ~社員
    """,
    "support": """
        customer* complain* refund* helpdesk support+ticket|tickets kunde kunden* kundin* beschwerde* reklamation*
        rückerstatt* réclamation* rembours* queja* reclam* reembols* rimbors* klant* klacht* terugbetal* cliente*
        ~客户 ~お客様
    """,
    "security": """
        vulnerab* vulnérab* malware phishing exploit* security+incident|incidents access+log|logs data+breach cve
        schwachstelle* sicherheitsvorfall* sicherheitslücke* ciberseguridad cibersegurança sicurezza+informatica
        kwetsbaarhe* incident+de+sécurité
    """,
}
ACTIONS = frozenset(
    {"summarise", "translate", "draft", "rewrite", "extract", "classify", "compare", "verify", "code", "analyse_data"}
)

NEEDS_VALUE: dict[str, str] = {
    "age": """
        how+old calculate|compute|determine+..+age work+out+..+age wie+alt alter+berechn*|bestimm*|ermittel* leeftijd
        quel+âge calculer|calculez|calcula|calcular|calcola|calcule+..+âge|edad|età|idade qué+edad quanti+anni que+idade
        hoe+oud
    """,
    "spelling": """
        how+is|do+..+spell|spelled|pronounce|pronounced spelled spelling pronounce* initials alphabetic* alphabetisch*
        by+last|first|sur+name by+surname rhyme* anagram* buchstabier* initialen reimt orthograph* aussprech* prononc*
        ordre|orden|ordine|ordem+alphabétique|alfabético|alfabetico|alfabética iniciales iniziali iniciais
    """,
}
"""Tasks, beside `verify`, that cannot be done without the value that a placeholder stands for."""

# A sentence with one of these and a question mark asks for an answer, unless it asks for something else ("Can you
# translate this?").
ASKING = """
    what why how who whom whose where when which does did is are can could would should may
    wer was wie wo wann warum welche welcher welches welchen ist sind hat kann muss darf soll
    quel quelle quels quelles pourquoi comment combien est qu peut où quand qui
    qué quién cómo cuándo dónde cuál cuánto cuánta puede
    chi che come quando dove perché quale quali qual quanto quanti cosa cos posso può
    quem como onde quais porque pode que wat waar wanneer waarom hoe welke hoeveel mag moet
"""
