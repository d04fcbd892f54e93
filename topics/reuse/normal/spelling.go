package normal

import "strings"

// spellings are the American spelling and its variants, and common errors that are no word of their own. Words that are two words in one
// of the spellings are left out (draught, story), unless every use of one is a use of the other.
const spellings = `color=colour colors=colours colored=coloured coloring=colouring colorful=colourful favor=favour favors=favours favorite=favourite
	favorites=favourites favorable=favourable flavor=flavour flavors=flavours flavored=flavoured honor=honour honors=honours honored=honoured
	humor=humour harbor=harbour harbors=harbours labor=labour neighbor=neighbour neighbors=neighbours neighborhood=neighbourhood
	neighborhoods=neighbourhoods neighboring=neighbouring rumor=rumour rumors=rumours odor=odour odors=odours savory=savoury vapor=vapour
	vigor=vigour behavior=behaviour behaviors=behaviours endeavor=endeavour endeavors=endeavours armor=armour parlor=parlour tumor=tumour
	tumors=tumours splendor=splendour mold=mould moldy=mouldy
	center=centre centers=centres centered=centred theater=theatre theaters=theatres liter=litre liters=litres 
	kilometer=kilometre kilometers=kilometres centimeter=centimetre centimeters=centimetres millimeter=millimetre millimeters=millimetres
	milliliter=millilitre milliliters=millilitres fiber=fibre fibers=fibres caliber=calibre somber=sombre luster=lustre specter=spectre
	catalog=catalogue catalogs=catalogues analog=analogue
	license=licence licenses=licences defense=defence defenses=defences offense=offence offenses=offences pretense=pretence

	aluminum=aluminium gray=grey
	jewelry=jewellery donut=doughnut donuts=doughnuts yogurt=yoghurt yogurts=yoghurts mustache=moustache mustaches=moustaches
	pajamas=pyjamas cozy=cosy plow=plough skeptical=sceptical skeptic=sceptic skepticism=scepticism airplane=aeroplane airplanes=aeroplanes
	pediatric=paediatric pediatrician=paediatrician pediatricians=paediatricians pediatrics=paediatrics anemia=anaemia anemic=anaemic
	anesthesia=anaesthesia anesthetic=anaesthetic estrogen=oestrogen esophagus=oesophagus leukemia=leukaemia diarrhea=diarrhoea
	hemoglobin=haemoglobin orthopedic=orthopaedic gynecologist=gynaecologist gynecology=gynaecology maneuver=manoeuvre encyclopedia=encyclopaedia
	archeology=archaeology archeologist=archaeologist medieval=mediaeval ameba=amoeba fetus=foetus fetal=foetal
	enroll=enrol enrolls=enrols enrollment=enrolment fulfill=fulfil fulfills=fulfils fulfillment=fulfilment skillful=skilful willful=wilful
	installment=instalment installments=instalments
	tire=tyre tires=tyres check=cheque checks=cheques program=programme programs=programmes meter=metre meters=metres
	traveler=traveller travelers=travellers woolen=woollen marvelous=marvellous counselor=counsellor counselors=counsellors
	artifact=artefact artifacts=artefacts judgment=judgement acknowledgment=acknowledgement aging=ageing
	learned=learnt burned=burnt dreamed=dreamt
	amid=amidst among=amongst while=whilst toward=towards
	email=e-mail emails=e-mails wifi=wi-fi online=on-line website=web-site websites=web-sites ok=okay percent=per-cent

	receive=recieve receives=recieves received=recieved separate=seperate separately=seperately definitely=definately=definitly address=adress=addres
	addresses=adresses occurred=occured occurring=occuring until=untill password=pasword=passwrod=pasword account=acount=accout
	accounts=acounts accommodation=accomodation=acommodation beginning=begining believe=beleive business=buisness=bussiness
	environment=enviroment government=goverment recommend=reccomend=recomend=reccommend successful=succesful=sucessful
	successfully=succesfully=sucessfully tomorrow=tommorow=tommorrow=tomorow weird=wierd friend=freind friends=freinds which=whcih=wich
	the=teh necessary=neccessary=necesary restaurant=restaraunt=resturant=restaurent restaurants=restaraunts=resturants
	language=langauge available=availible=avaliable=availabe calendar=calander cancellation=cancelation
	receipt=reciept receipts=reciepts different=diffrent difference=diffrence differences=diffrences because=becuase=becasue=beacuse
	through=throught with=wiht what=waht how=hwo where=whre should=shoud=shuold would=woud could=coud=cuold
	subscription=subsciption=subcription=subscripton subscribe=suscribe unsubscribe=unsuscribe
	maintenance=maintainance existence=existance independent=independant experience=experiance immediately=immediatly
	privilege=priviledge publicly=publically schedule=schedual=shedule truly=truely usually=usualy
	really=realy probably=probaly=probly interesting=intresting information=infomation=informtion
	application=aplication applications=aplications delivery=delievery deliver=delivar payment=paymnet=payement transfer=tranfer
	download=donwload=dowload upload=uplaod install=instal username=usename manager=manageer
	your=yuor people=poeple their=thier something=somthing someone=somone`

// stems are verbs and what is made of them, British before American: the ending -ise and its like.
const stems = `organis/organiz:e,es,ed,ing,er,ers,ation,ations,ational recognis/recogniz:e,es,ed,ing,able realis/realiz:e,es,ed,ing,ation
	apologis/apologiz:e,es,ed,ing authoris/authoriz:e,es,ed,ing,ation,ations customis/customiz:e,es,ed,ing,able,ation,ations
	personalis/personaliz:e,es,ed,ing,ation optimis/optimiz:e,es,ed,ing,ation,ations,er minimis/minimiz:e,es,ed,ing
	maximis/maximiz:e,es,ed,ing prioritis/prioritiz:e,es,ed,ing summaris/summariz:e,es,ed,ing synchronis/synchroniz:e,es,ed,ing,ation
	anonymis/anonymiz:e,es,ed,ing,ation finalis/finaliz:e,es,ed,ing initialis/initializ:e,es,ed,ing,ation normalis/normaliz:e,es,ed,ing,ation
	specialis/specializ:e,es,ed,ing,ation utilis/utiliz:e,es,ed,ing,ation visualis/visualiz:e,es,ed,ing,ation categoris/categoriz:e,es,ed,ing
	characteris/characteriz:e,es,ed,ing centralis/centraliz:e,es,ed,ing criticis/criticiz:e,es,ed,ing emphasis/emphasiz:ed,ing
	generalis/generaliz:e,es,ed,ing,ation memoris/memoriz:e,es,ed,ing modernis/moderniz:e,es,ed,ing,ation monetis/monetiz:e,es,ed,ing,ation
	standardis/standardiz:e,es,ed,ing,ation stabilis/stabiliz:e,es,ed,ing,er sterilis/steriliz:e,es,ed,ing,ation symbolis/symboliz:e,es,ed,ing
	immunis/immuniz:e,es,ed,ing,ation,ations hospitalis/hospitaliz:e,es,ed,ing,ation serialis/serializ:e,es,ed,ing,ation,er
	randomis/randomiz:e,es,ed,ing,ation,er tokenis/tokeniz:e,es,ed,ing,ation,er moisturis/moisturiz:e,es,ed,ing,er
	fertilis/fertiliz:e,es,ed,ing,ation,er,ers digitis/digitiz:e,es,ed,ing,ation legalis/legaliz:e,es,ed,ing,ation
	localis/localiz:e,es,ed,ing,ation materialis/materializ:e,es,ed,ing mobilis/mobiliz:e,es,ed,ing,ation penalis/penaliz:e,es,ed,ing
	pressuris/pressuriz:e,es,ed,ing privatis/privatiz:e,es,ed,ing,ation reorganis/reorganiz:e,es,ed,ing,ation socialis/socializ:e,es,ed,ing
	subsidis/subsidiz:e,es,ed,ing urbanis/urbaniz:e,ed,ing,ation victimis/victimiz:e,es,ed,ing vaporis/vaporiz:e,es,ed,ing,er
	equalis/equaliz:e,es,ed,ing,er familiaris/familiariz:e,es,ed,ing formalis/formaliz:e,es,ed,ing harmonis/harmoniz:e,es,ed,ing
	italicis/italiciz:e,ed jeopardis/jeopardiz:e,es,ed,ing neutralis/neutraliz:e,es,ed,ing organisationall/organizationall:y
	paralys/paralyz:e,es,ed,ing analys/analyz:e,ed,ing,er,ers catalys/catalyz:e,ed,ing
	travell/travel:ed,ing cancell/cancel:ed,ing,ing labell/label:ed,ing modell/model:ed,ing,er levell/level:ed,ing
	fuell/fuel:ed,ing signall/signal:ed,ing channell/channel:ed,ing totall/total:ed,ing quarrell/quarrel:ed,ing tunnell/tunnel:ed,ing
	counsell/counsel:ed,ing dialled/dialed:- dialling/dialing:- unravell/unravel:ed,ing marshall/marshal:ed,ing`

// fusions are two words that are written as one, or without their apostrophe, with the second word after the equals sign. Those that are
// words of their own are left out: well, ill, shell, wed, were, its, id, lets, wont.
const fusions = `what+s=is who+s=is where+s=is how+s=is when+s=is that+s=is there+s=is here+s=is
	do+nt=not does+nt=not did+nt=not can+t=not could+nt=not would+nt=not should+nt=not is+nt=not are+nt=not was+nt=not were+nt=not
	has+nt=not have+nt=not had+nt=not must+nt=not need+nt=not
	i+m=am i+ve=have you+re=are you+ve=have they+re=are they+ve=have we+ve=have you+ll=will they+ll=will
	can+not=not`

// mentioned reports whether the word at i may be a word that the prompt is about: it is the subject or object of a verb that words are.
func mentioned(ts tokens, i int) bool {
	return ts.has(i, be|do|modal) && ts.has(i-1, be|do|modal) || names(ts, i-1)
}

// used reports whether the word at i, which has another spelling, is used for what it means: it is no name, and part of a phrase or behind
// a verb, and not alone as subject or object of a verb that words are.
func used(ts tokens, i int) bool {
	if open, ok := company[ts[i].Text]; ok {
		return ts.among(i, open)
	}
	switch {
	case i == 0 || ts[i-1].Kind == Mark && ts[i-1].Text != "-", ts[i].class&(upper|mixed|caps) != 0 && !ts[i].First, names(ts, i-1):
		return false
	case ts.has(i-1, be):
		return verbal(ts[i].Text) || ts.is(i+1, "covered", "safe", "allowed", "included", "healthy") || ts.is(i+1, "all") && ts.is(i+2, "right")
	case ts.has(i-1, preposition|determiner), ts.is(i-1, "what", "which"):
		return true
	}
	return !(ts.has(i+1, be) && ts.has(i-1, wh|auxiliary)) && !names(ts, i+1) && !ts.is(i+1, "or", "vs", "versus")
}

// phrased reports whether the word at i is no name in a prompt without capitals, which would show one: a verb, behind a determiner or a number,
// or behind another word with several spellings.
func phrased(ts tokens, i int) bool {
	return ts.has(i-1, determiner|numeral|respelled) || i > 0 && ts[i-1].Kind == Number || verbal(ts[i].Text) || ts[i].class&(function|task|verb|wh) != 0 || ts.has(i+1, respelled)
}

// names reports whether token i is a verb for using a word, or compares words.
func names(ts tokens, i int) bool {
	return ts.is(i, "use", "uses", "used", "using", "say", "says", "mean", "means", "call", "called", "write", "type", "prefer", "spell")
}

// company are the words with another meaning in one of the spellings, and the words of which one of the three before them must be one.
var company = map[string][]string{
	"tire": {"flat", "winter", "summer", "spare", "bicycle", "bike", "car"}, "tires": {"flat", "winter", "summer", "spare", "bicycle", "bike", "car"},
	"check": {"cash", "deposit", "traveler", "blank", "bounced"}, "checks": {"cash", "deposit", "traveler", "blank", "bounced"},
	"program": {"loyalty", "rewards", "exchange"}, "programs": {"loyalty", "rewards", "exchange"},
	"meter": {"square", "cubic"}, "meters": {"square", "cubic"},
}

// among reports whether one of the three words before i is one of some, or i is meters behind a number or in "how many meters of".
func (ts tokens) among(i int, words []string) bool {
	for j := i - 1; j >= max(i-3, 0) && ts[j].Kind == Word; j-- {
		if ts.is(j, words...) {
			return true
		}
	}
	return i > 0 && strings.HasPrefix(ts[i].Text, "meter") && (ts[i-1].Kind == Number || ts.is(i-1, "many") && ts.is(i+1, "of"))
}
