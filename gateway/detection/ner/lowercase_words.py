"""Words that may be names when capitalized, but hardly ever in lower case: "davon", "dos", "leider"."""

LOWERCASE_WORDS = frozenset(
    """
    aba add adı alan alana alanı alle alleen allen aller alta alterá alto alın arco are art así ata aus aura azul
    aún back badan barra barre bas basso başka begin bent beste bien bin blanc blanco block borde boş brak branco bulle
    bulut buna będą cadena cadenas campo campos can canal canales canali capa car cartes cas casa casas case ceci
    cena ceną cerró champ champs chaves che chi chip cierra clair comas come comment con conter contra coste criado
    cui cámara câmara côté dado dag dagli dai dalla dann dar darin das dass date datę davon day deja del dell della
    delle den der dessa devi deze değer dia dias die dita dos dove durant durante déjà día días dön dış eder edin
    edit einer eisen ene era esa españa español essa essi esta estes estoy está evita far fattori field fields floor
    fondo forum frei fuente fuentes garde gelb gama general gera geri germanici già grand grande gros groß grün
    guardado gün güneş hacer hanno hará hasta hay hook hora hoy hui inná ise izquierdo jaki jeton juni karta kayıt
    keer kent key klein komen kosten kök lange langer las lassen lata leider leis ler les levar ley lien lijn line
    link list lié liés lois lui lundi maillé mają mal malla mar mas mañana media mega mee meta metin minhas mise modi
    moet monte more musi must más máximo mãe média mín nach nada nadal nas nascimento nel nella nelle nello neu nim
    non noch november nur ohne olan oder ona oscuro oude over page pages pai par parada pare parent parts pasek
    paska pero petit piętra piętro poder podrá pole porta posta post prima puerta raden rand reason rodilla rok ruta
    sai sair salva salvar salvo samą sans sarai sarà scaduto schakelaar segundo segura según sem sep separei ser
    sera serem server será serão seç sich sie siti się sind solo soma son sona storm sue sur sûr taal tab tak taraf
    terá topic trace true tuo tür uit uma una unique uno usada uygun valid van var varlık vento ver vi vida vide von
    vorm vos wegen wer wie wir xin yeni zające zaman zarar zou zum zur çık özel öğe
    """.split()
)
