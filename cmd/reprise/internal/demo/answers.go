package demo

import "strings"

// scripted returns the answer to a question of Workload, in whatever words it is asked, so that answers of equal meaning are equal and can
// be compared. A later turn is answered for the question that began the conversation.
func scripted(asked []string) (text string, known bool) {
	if len(asked) == 0 {
		return "", false
	}
	begin := plain(asked[0])
	first, known := answers[begin]
	if !known || len(asked) == 1 {
		return first, known
	}
	text, known = followUps[plain(asked[len(asked)-1])]
	return "About your first question, " + begin + ": " + text, known
}

// plain takes off what Workload varies.
func plain(question string) string {
	q := strings.TrimPrefix(strings.ToLower(question), "please tell me: ")
	for _, w := range ways {
		if rest, ok := strings.CutPrefix(q, strings.ToLower(w[1])); ok {
			q = strings.ToLower(w[0]) + rest
		}
	}
	return strings.TrimRight(q, " ?")
}

var answers = map[string]string{
	"how do i reset my password": "Choose Forgot password on the sign-in page and enter your email address. We send a link to that address; open it and " +
		"choose a new password with at least 12 characters. Your notes stay as they are.",
	"how do i turn on two-factor authentication": "Open Settings, then Security, and switch on Two-factor authentication. Scan the code with an authenticator " +
		"app, enter the six digits that it shows, and keep the recovery codes in a safe place.",
	"how do i turn off two-factor authentication": "Open Settings, then Security, and switch off Two-factor authentication. You have to confirm it with a code " +
		"of your authenticator app or with one of the recovery codes.",
	"is there a way to change my email": "Yes. Open Settings, then Account, and choose Change email. We send a link to the new address; it is in use " +
		"as soon as you have opened that link.",
	"is there a way to delete my account": "Yes. Open Settings, then Account, and choose Delete account. You have 30 days to come back; after them all notes " +
		"are removed.",
	"why was my account locked after several attempts to sign in": "After ten wrong passwords within an hour an account is locked for 30 minutes, so that a " +
		"password cannot be found by trial. Wait, or choose Forgot password to unlock it at once.",
	"can i sign in with my company account instead of a password": "Yes, in the Business plan. An administrator connects your identity provider by SAML or " +
		"OpenID Connect under Settings, Single sign-on. After that the sign-in page sends you there.",
	"how do i change the credit card on my subscription": "Open Settings, then Billing, and choose Change card. The new card is charged at the next renewal; " +
		"the old one is removed as soon as the new one is confirmed.",
	"where can i download my invoices": "All invoices are listed under Settings, Billing, Invoices, each as a PDF. We also send every new one to the billing " +
		"address of your account.",
	"how do i cancel my subscription": "Open Settings, then Billing, and choose Cancel subscription. The paid plan goes on until the end of the period that is " +
		"paid; after it your account continues in the free plan.",
	"do you offer a discount for schools and universities": "Yes. Pupils, students and teachers pay half of the price. Apply under Settings, Billing, " +
		"Education with an email address of your school; it is checked within two days.",
	"what happens to my notes when a payment fails": "Nothing is deleted. We try the card again three times within two weeks. If that fails, the account " +
		"continues in the free plan, and notes over its limit can be read and exported.",
	"how do i export all my notes as markdown": "Open Settings, then Export, choose All notes and the format Markdown. You get a ZIP file with one file for " +
		"each note and a folder for each notebook.",
	"how do i export the notes of the last 30 days": "Open Settings, then Export, and choose Changed in the last 30 days before you choose a format. The export " +
		"has the notes that were created or edited in these 30 days.",
	"how do i export the notes of the last 90 days": "Open Settings, then Export, and choose Changed in the last 90 days before you choose a format. The export " +
		"has the notes that were created or edited in these 90 days.",
	"can i import notes from another application": "Yes. Open Settings, then Import. Markdown, HTML and the export files of six other applications are read; " +
		"notebooks, tags and dates are kept.",
	"is there a limit to the size of an export": "One export has at most 5 GB. If your notes are larger, export them by notebook, or leave attachments out.",
	"how do i share a notebook with my team": "Open the notebook, choose Share, and enter the names of members or of a group. For each of them choose whether " +
		"they may read, comment or edit.",
	"how do i remove a member from a shared notebook": "Open the notebook, choose Share, and choose Remove next to the name. The notebook disappears from the " +
		"member's list at the next sync.",
	"what can a guest see in a shared notebook": "A guest sees the notes of that notebook and their comments, and nothing else: no other notebooks, no list of " +
		"members and no history.",
	"how do i make a shared notebook read-only": "Open the notebook, choose Share, and set everyone but yourself to Can read. Owners and administrators can " +
		"still edit.",
	"who owns a notebook when a member leaves the team": "The notebooks of a member who leaves pass to an administrator, who can give them to another member " +
		"within 60 days.",
	"why are my notes not syncing to my phone": "Most often the app may not use data in the background. Open the app's Sync page: it shows the last sync and the " +
		"reason why the next one waits. Sign out and in again only if that page shows an error.",
	"how do i use the app without an internet connection": "Mark a notebook as Available offline. Its notes are kept on the device, can be edited, and are " +
		"synced when there is a connection again.",
	"how do i resolve a sync conflict": "Open the note marked with a conflict. Both versions are shown side by side; choose one, or take over parts of each. " +
		"The other version stays in the history for 30 days.",
	"which versions of the mobile app are still supported": "The versions of the last twelve months. Older ones can read notes but no longer sync.",
	"how do i free up space that the app uses on my phone": "Open the app's settings, then Storage, and remove downloaded attachments. They are loaded again " +
		"when you open them; your notes are not touched.",
	"how do i create an api key": "Open Settings, then Developer, and choose New key. Give it a name and the permissions that it needs. The key is shown " +
		"once, so copy it at once.",
	"what are the rate limits of the api": "120 requests a minute for each key, and 10 at the same time. A response with status 429 has the seconds to wait " +
		"in the header Retry-After.",
	"how do i receive a webhook when a note changes": "Register a URL with POST /v2/webhooks and the event note.changed. Each call is signed; check the header " +
		"X-Signature with the secret that you got at the registration.",
	"how do i search notes through the api": "Send GET /v2/notes with the parameter query. The words are searched in titles and texts; limit and cursor page " +
		"through the results.",
	"how do i revoke an api key that was leaked": "Open Settings, then Developer, and choose Revoke next to the key. It stops working within a minute. Then look " +
		"at the access log on the same page.",
	"how do i restore a note that i deleted": "Open Trash, select the note and choose Restore. It goes back to its notebook, with its history and attachments.",
	"how long are deleted notes kept":        "Deleted notes stay in the Trash for 30 days. After that they are removed from our servers within a week.",
	"are my notes encrypted": "Yes: on the way with TLS, and on our disks with AES-256. Notes in a private notebook are also encrypted on your device, " +
		"with a key that we do not have.",
	"in which country is my data stored": "In the region that was chosen for the account: Germany, the United States or Japan. Settings, Account shows yours.",
	"how do i see earlier versions of a note": "Open the note's menu and choose History. Every version of the last year is listed with its date; choose one " +
		"to read it or to bring it back.",
	"are there any disturbances at the moment": "No. All services work: sync, search, export and the API.",

	"where do i see which plan a customer has": "On the customer's page in the administration, in the line below the name. Free, Plus and Business are told apart by " +
		"their colour.",
	"how do i send a customer the report of the last sync": "Open the customer's page, choose Devices, and choose Send report. It has no texts of notes.",
	"whom do i ask about an invoice that is in dispute":    "The accounts team, with the number of the invoice. Do not promise a refund before they have answered.",
	"how do i find the log of a failed export":             "Open the customer's page, choose Exports, and open the one that failed. The log is kept for 14 days.",
	"when do i pass a question on to the second line":      "When the help centre has no answer, when data may be lost, or when the customer has written three times.",

	"suggest a title for the notes of a weekly team meeting.": "Weekly team meeting: decisions and next steps",
	"write a checklist for moving to a new flat.": "- [ ] Give notice for the old flat\n- [ ] Book a van for [date]\n- [ ] Pack books and kitchen first\n" +
		"- [ ] Change the address at bank, insurance and employer\n- [ ] Read the meters in both flats",
	"write an agenda for a first meeting with a customer.": "- 10:00 Introduce both sides\n- 10:10 Hear what the customer wants to change\n- 10:35 Show what exists\n" +
		"- 10:50 Agree on the next steps",
	"suggest tags for a note about a sourdough recipe.": "baking, bread, sourdough, recipe",
	"write a template for a bug report.": "# Summary\nOne sentence that names the fault.\n# Steps\nWhat you did, one step a line.\n# Expected\nWhat should have happened.\n" +
		"# Seen\nWhat happened, with the version and the device.",
	"suggest headings for a project diary.": "# Done today\n# Decided, and why\n# Open questions\n# Tomorrow",
	"write a checklist for a conference talk.": "- [ ] Write the one sentence that should be remembered\n- [ ] Draw the slides\n- [ ] Rehearse aloud with a clock\n" +
		"- [ ] Test the projector\n- [ ] Bring the slides as a file",
	"turn this into a polite reminder: the report was due on friday.": "Dear [name], the report was due on Friday. Could you send it by [date], or say what is missing? Thank you.",
}

var followUps = map[string]string{
	"and if i no longer have access to that email address": "write to our support from another address. We ask for an invoice number to make sure that it is you.",
	"how long is that link valid":                          "the link is valid for 24 hours and can be used once.",
	"does that sign me out everywhere":                     "yes, all other devices are signed out within a minute.",
	"when does that take effect":                           "it takes effect at once, and on invoices from the next one on.",
	"will i get a refund for the rest of the month":        "we refund the rest of a month within 14 days of a renewal, and not later.",
	"can somebody else on my team do that":                 "yes, every administrator of your team can do it.",
	"are attachments part of it":                           "yes, attachments are part of it, in a folder of their own.",
	"can i automate that":                                  "yes, through the API, once an hour at most.",
	"which formats are there besides that one":             "HTML, PDF and plain text.",
	"do they get a message about it":                       "yes, by email and in the app.",
	"can that be undone":                                   "yes, for 30 days, by an owner.",
	"what if they are offline at that moment":              "it takes effect on their device at the next sync.",
	"i have tried that already, what else can i do":        "send us the report under Help, Diagnostics. It has no texts of your notes.",
	"is anything lost when i do that":                      "no, changes that are not synced yet are kept.",
	"where do i find that setting":                         "in the app's menu, under Settings, on the second page.",
	"can you show me an example with curl":                 "the page of each call in our API reference has one that you can copy.",
	"which permissions does that need":                     "the permission notes:read, and notes:write if anything is changed.",
	"is that also available in the free plan":              "yes, with a tenth of the limits.",
	"is that true for attachments as well":                 "yes, attachments are treated like notes.",
	"can an administrator do that for me":                  "yes, from the page of your account in the administration.",
	"make it shorter.":                                     "the same with half of the words.",
	"add one more point.":                                  "the same, and at the end: ask [name] to read it.",
	"write it in a more formal way.":                       "the same in full sentences, and with the full names.",
	"how do i check that it worked":                        "the page shows the date of the last change next to it.",
}
