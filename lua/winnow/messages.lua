---@meta
-- Made by `make types` from the host's protocol.

--- A message that was sent; `id` is a UUID. `section` is what it was said about.
---@class winnow.Sent
---@field id string
---@field text string
---@field section string

--- What a worker is made from; empty, or 0: as the run has it.
---@class winnow.WorkerOptions
---@field model string
---@field mode string
---@field effort string
---@field budget number
---@field place string
---@field worktree boolean

--- How much a run may do; `budget` in US dollars, 0: as much as it likes.
---@class winnow.Limits
---@field max_workers integer
---@field budget number
---@field worker winnow.WorkerOptions
---@field gate string
---@field uncommitted boolean
---@field merge 'all'|'ask'|'none'
---@field silence number

--- What is clarified in a chat, and how; an empty `id`: nothing.
---@class winnow.Clarify
---@field id string
---@field folder string
---@field templates string
---@field one_by_one boolean

--- Where agents may run: here, or wherever a command gives a shell with its pipes.
---@class winnow.Place
---@field name string
---@field command string[]
---@field cwd string
---@field cli string
---@field env table<string, string>
---@field slots integer

--- The git worktree that a chat works in; an empty `project`: in none.
---@class winnow.Worktree
---@field project string
---@field branch string

--- A chat buffer was attached. `sections` are the ids whose markers its text still holds.
---@class winnow.event.Open
---@field type 'open'
---@field chat integer
---@field path string
---@field cwd string
---@field agent? string
---@field session? string
---@field model? string
---@field effort? string
---@field fast? boolean
---@field mode? string
---@field configured? string
---@field questions? string
---@field sections? string[]
---@field lines? string[]
---@field confirmed? integer
---@field sent? winnow.Sent[]
---@field headless? boolean
---@field eager? boolean
---@field budget? number
---@field compact? string
---@field run? string
---@field limits? winnow.Limits
---@field clarify? winnow.Clarify
---@field places? winnow.Place[]
---@field tools? string[]
---@field task? string
---@field worktree? winnow.Worktree

--- What one mention stands for.
---@class winnow.Attachment
---@field mention string
---@field name string
---@field text string
---@field language string
---@field note string
---@field image string
---@field media string
---@field path boolean

--- A message that the buffer already shows. Empty: there was nothing to take after all.
---@class winnow.event.Send
---@field type 'send'
---@field chat integer
---@field text string
---@field id? string
---@field attached? winnow.Attachment[]

--- These messages stand in the draft, and the draft in its file.
---@class winnow.event.Refilled
---@field type 'refilled'
---@field chat integer
---@field messages string[]

--- The user wants something sent, but the chat was not idle: ask for it with `Take`.
---@class winnow.event.Queue
---@field type 'queue'
---@field chat integer
---@field now? boolean
---@field number? integer

--- End the running turn.
---@class winnow.event.Stop
---@field type 'stop'
---@field chat integer

--- Ask what clarify asks one by one, or all at once; also what is being asked.
---@class winnow.event.Pace
---@field type 'pace'
---@field chat integer
---@field one_by_one boolean

--- Change the permission mode; empty: show it, with the rules in force.
---@class winnow.event.SetMode
---@field type 'setmode'
---@field chat integer
---@field mode? string

--- Show what a subagent says: that of this id; or of this call; or the `nth` (from 0) of those
---@class winnow.event.VisitAgent
---@field type 'visitagent'
---@field chat integer
---@field agent? string
---@field call? string
---@field line? string
---@field nth? integer

--- The buffer of a subagent was closed, or is to be filled again.
---@class winnow.event.WatchAgent
---@field type 'watchagent'
---@field chat integer
---@field agent string
---@field open boolean

--- Go to the subagent whose call is on this row of another one's buffer.
---@class winnow.event.PickInAgent
---@field type 'pickinagent'
---@field chat integer
---@field agent string
---@field row integer

--- Go to another subagent that the same one has started: so many `step` s on, or back.
---@class winnow.event.AgentBeside
---@field type 'agentbeside'
---@field chat integer
---@field agent string
---@field step integer

--- Tell the agent now what the user has changed in the todo list.
---@class winnow.event.TellTodo
---@field type 'telltodo'
---@field chat integer

--- Make a chat of a subagent.
---@class winnow.event.Promote
---@field type 'promote'
---@field chat integer
---@field agent string

--- Have a running call go on in the background; without `call`: the only one that runs.
---@class winnow.event.Background
---@field type 'background'
---@field chat integer
---@field call? string

--- Do what helps after a turn that failed, and go on; `draft`: with what stands there.
---@class winnow.event.Again
---@field type 'again'
---@field chat integer
---@field draft? boolean

--- The chat may cost so many US dollars from when it was opened; 0: as much as it likes.
---@class winnow.event.Budget
---@field type 'budget'
---@field chat integer
---@field dollars? number

--- Put a summary in the place of what was said; `text` says what it is to keep.
---@class winnow.event.Compact
---@field type 'compact'
---@field chat integer
---@field text? string

--- Change what answers; `fast` is `on` or `off`, of the others `default` is a value.
---@class winnow.event.Choose
---@field type 'choose'
---@field chat integer
---@field what 'effort'|'fast'|'model'
---@field value string

--- What a mention in the draft would send, in words; `problem`: it can't be sent.
---@class winnow.Mentioned
---@field mention string
---@field name string
---@field amount string
---@field problem boolean

--- What the draft mentions now, for the list of what is sent.
---@class winnow.event.Mentions
---@field type 'mentions'
---@field chat integer
---@field mentions winnow.Mentioned[]

--- The user asks for what only the agent knows, which need not have started.
---@class winnow.event.Wake
---@field type 'wake'
---@field chat integer

--- Ask the user what of the change of this chat's worktree shall be merged.
---@class winnow.event.Merge
---@field type 'merge'
---@field chat integer

--- Ask about the chat without a trace in it; `id` comes back with the answer.
---@class winnow.event.AskAside
---@field type 'askaside'
---@field chat integer
---@field id integer
---@field text string

--- Nobody reads that answer any more.
---@class winnow.event.EndAside
---@field type 'endaside'
---@field chat integer
---@field id integer

--- Look which branches there are now.
---@class winnow.event.FindBranches
---@field type 'findbranches'
---@field chat integer

--- Ask what is to be as it was before a message of the user's.
---@class winnow.event.Rewind
---@field type 'rewind'
---@field chat integer
---@field text string
---@field nth integer
---@field lines string[]
---@field row integer
---@field unsaved string[]
---@field cwd? string
---@field values? table<string, string>

--- The files that are changed in a buffer now: `AskUnsaved` wants to know.
---@class winnow.event.Unsaved
---@field type 'unsaved'
---@field chat integer
---@field paths string[]

--- What the list `review` shows: changes since this. A mark, or a name that git knows.
---@class winnow.event.Review
---@field type 'review'
---@field chat integer
---@field since? string

--- What that list shows is accepted: the next review begins there.
---@class winnow.event.Accept
---@field type 'accept'
---@field chat integer
---@field before? string[]
---@field lines? string[]

--- The user has written a file while the agent worked.
---@class winnow.event.Saved
---@field type 'saved'
---@field chat integer
---@field path string
---@field before string
---@field after string

--- Go to a line (from 1) of the file whose change begins with `head` in that list.
---@class winnow.event.VisitChange
---@field type 'visitchange'
---@field chat integer
---@field head string
---@field line integer

--- A place, or a buffer; what it has no use for is empty.
---@class winnow.Spot
---@field path string
---@field line integer
---@field text string
---@field kind string
---@field depth integer

--- What came of a call.
---@class winnow.Told
---@field problem string
---@field spots winnow.Spot[]
---@field total integer
---@field lines string[]
---@field first integer
---@field note string
---@field title string
---@field code integer

--- What came of an `EditorCall`.
---@class winnow.event.EditorAnswer
---@field type 'editoranswer'
---@field chat integer
---@field id string
---@field told winnow.Told

--- The lines of the open section changed.
---@class winnow.event.Edit
---@field type 'edit'
---@field chat integer
---@field section string
---@field lines string[]
---@field first? integer
---@field after? integer
---@field size? integer

--- `<CR>` in the open section, with the cursor on `row` of `lines`.
---@class winnow.event.Confirm
---@field type 'confirm'
---@field chat integer
---@field section string
---@field lines string[]
---@field row integer
---@field unseen? integer
---@field anew? boolean

--- Keep only the option on `row` of `lines` of the open section; `Delete` does it.
---@class winnow.event.Keep
---@field type 'keep'
---@field chat integer
---@field section string
---@field lines string[]
---@field row integer

--- `<Esc>` in the open section.
---@class winnow.event.Cancel
---@field type 'cancel'
---@field chat integer
---@field section string
---@field lines string[]

--- `<CR>` on the record of a section that was never answered.
---@class winnow.event.Reopen
---@field type 'reopen'
---@field chat integer
---@field section string

--- Talk back about the open section instead of answering it.
---@class winnow.event.Discuss
---@field type 'discuss'
---@field chat integer
---@field section string
---@field lines string[]
---@field text string
---@field id? string

--- Answer a permission, patch or plan from anywhere, or a question that has one choice.
---@class winnow.event.Grant
---@field type 'grant'
---@field chat integer
---@field section string
---@field choice 'allow'|'always'|'answer'|'deny'|'turn'
---@field reason? string
---@field lines? string[]
---@field unseen? integer
---@field option? integer

--- Show the open patch beside the file, as a diff of two buffers.
---@class winnow.event.Compare
---@field type 'compare'
---@field chat integer
---@field section string
---@field lines string[]

--- A section could not be shown.
---@class winnow.event.Unshown
---@field type 'unshown'
---@field chat integer
---@field section string

--- The buffer is gone: deny what waits, end the agent.
---@class winnow.event.Close
---@field type 'close'
---@field chat integer

--- A user interface was attached to this Neovim, or the last one was detached.
---@class winnow.event.Watched
---@field type 'watched'
---@field headless boolean

--- Show what was decided, or export it.
---@class winnow.event.Recall
---@field type 'recall'
---@field about? string
---@field path? string
---@field export? string

--- Show what was decided about the settings of the project at `cwd`, or forget it.
---@class winnow.event.Trust
---@field type 'trust'
---@field cwd string
---@field revoke? boolean

--- A list was opened, and is to be kept up to date; or it was closed.
---@class winnow.event.WatchList
---@field type 'watchlist'
---@field name string
---@field of? integer
---@field open boolean

--- Do what the lines ask for, which were `before`; `force`: also what is asked about.
---@class winnow.event.EditList
---@field type 'editlist'
---@field name string
---@field of? integer
---@field before string[]
---@field lines string[]
---@field force? boolean
---@field unseen? string[]
---@field unsaved? string[]

--- Go to what the line with this key is about; `peek`: only look at it.
---@class winnow.event.PickLine
---@field type 'pickline'
---@field name string
---@field of? integer
---@field key string
---@field peek? boolean

--- Show the end of a task's transcript; without a task, what has become of the run.
---@class winnow.event.Peek
---@field type 'peek'
---@field run string
---@field task? string

--- Go to the chat in which a run is led.
---@class winnow.event.GoToRun
---@field type 'gotorun'
---@field run string

--- Show what happened in a run.
---@class winnow.event.Timeline
---@field type 'timeline'
---@field run string

--- Let a run go on whose budget is spent, or whose places could not be reached.
---@class winnow.event.GoOn
---@field type 'goon'
---@field run string
---@field budget? number

--- Stop a run: its workers end, and go on with `GoOn`.
---@class winnow.event.HaltRun
---@field type 'haltrun'
---@field run string

--- Have the task `to` answer a question: `query`, or the only one of `task`, or of all.
---@class winnow.event.HandOver
---@field type 'handover'
---@field run string
---@field to string
---@field query? string
---@field task? string

--- Which chats the list of them is to show, with the sessions of the project at `cwd`.
---@class winnow.event.FindChats
---@field type 'findchats'
---@field cwd string
---@field about? string
---@field family? string

--- Go on from before a message of the user's, in a chat of its own; that one is its draft.
---@class winnow.event.Fork
---@field type 'fork'
---@field path string
---@field cwd string
---@field session string
---@field text string
---@field nth integer
---@field lines string[]
---@field values? table<string, string>

--- Go on with a session of the project at `cwd`: by its id, or a part of its title.
---@class winnow.event.Resume
---@field type 'resume'
---@field cwd string
---@field about? string

--- List what is kept of worktrees in the repository at `cwd`, and of chats that were deleted;
---@class winnow.event.Restore
---@field type 'restore'
---@field cwd string
---@field name? string

--- A chat was deleted, `path`; its worktree goes, too, unless it holds something.
---@class winnow.event.LeaveTree
---@field type 'leavetree'
---@field path string
---@field cwd string
---@field project string
---@field branch string

--- Append to the transcript; `fresh` starts a new paragraph.
---@class winnow.effect.Write
---@field type 'write'
---@field chat integer
---@field text string
---@field fresh boolean

--- Show a tool call as one line, or update it; `output` goes folded beneath.
---@class winnow.effect.Tool
---@field type 'tool'
---@field chat integer
---@field id string
---@field line string
---@field output string[]
---@field seconds number

--- A call that goes on: what is drawn behind its line, with the time `since` (epoch).
---@class winnow.LiveCall
---@field id string
---@field text string
---@field since number

--- All calls of the chat that are subagents, or go on in the background.
---@class winnow.effect.Live
---@field type 'live'
---@field chat integer
---@field calls winnow.LiveCall[]

--- What a subagent says, in a buffer of its own: `lines` after the first `keep` rows.
---@class winnow.effect.AgentPage
---@field type 'agentpage'
---@field chat integer
---@field agent string
---@field title string
---@field state string
---@field parent string
---@field call string
---@field lines string[]
---@field keep integer
---@field show boolean

--- Open a new chat that goes on with this session, of which `lines` are what was said.
---@class winnow.effect.Promoted
---@field type 'promoted'
---@field chat integer
---@field session string
---@field cwd string
---@field lines string[]

--- Open a section above the draft.
---@class winnow.effect.Section
---@field type 'section'
---@field chat integer
---@field section string
---@field lines string[]
---@field previews table<string, string>
---@field focus boolean
---@field edited string[]

--- What would be answered to one question now.
---@class winnow.Part
---@field text string
---@field decided boolean

--- What `<CR>` would send now, for the section's foot; `waiting` sections follow it.
---@class winnow.effect.Verdict
---@field type 'verdict'
---@field chat integer
---@field section string
---@field parts winnow.Part[]
---@field waiting integer
---@field offer string
---@field acted boolean

--- One sentence for the user's message line, when nothing before it is held back.
---@class winnow.effect.Say
---@field type 'say'
---@field chat integer
---@field text string
---@field level 'error'|'info'|'warn'

--- One sentence for the user's message line, at once.
---@class winnow.effect.Notify
---@field type 'notify'
---@field text string
---@field level 'error'|'info'|'warn'

--- Move the cursor to a question of the open section (from 1), or to its foot (0).
---@class winnow.effect.Move
---@field type 'move'
---@field chat integer
---@field section string
---@field question integer

--- Go to the first line of the open section that was not on the screen yet.
---@class winnow.effect.Reveal
---@field type 'reveal'
---@field chat integer
---@field section string

--- Delete these rows of the lines that `Confirm` or `Keep` had, then confirm again.
---@class winnow.effect.Delete
---@field type 'delete'
---@field chat integer
---@field section string
---@field question integer
---@field rows integer[]

--- Make these the lines of the open section, as the user could have: `u` takes it back.
---@class winnow.effect.Fill
---@field type 'fill'
---@field chat integer
---@field section string
---@field lines string[]

--- Replace the open section by its record.
---@class winnow.effect.Freeze
---@field type 'freeze'
---@field chat integer
---@field section string
---@field lines string[]

--- Commit what is queued first and answer with `Send`.
---@class winnow.effect.Take
---@field type 'take'
---@field chat integer

--- The turn has failed, or was stopped: what is queued is not sent before the user says so.
---@class winnow.effect.Hold
---@field type 'hold'
---@field chat integer
---@field number integer

--- The agent has taken these messages, which were sent in the middle of a turn.
---@class winnow.effect.Taken
---@field type 'taken'
---@field chat integer
---@field messages string[]

--- A piece of the answer to `AskAside`. `done`: there is no more; `problem` says why.
---@class winnow.effect.AsideSaid
---@field type 'asidesaid'
---@field chat integer
---@field id integer
---@field text string
---@field done boolean
---@field problem string

--- Put a message that was not delivered back into the draft, above what stands there.
---@class winnow.effect.Refill
---@field type 'refill'
---@field chat integer
---@field text string
---@field messages string[]

--- The store has these messages: nobody else has to remember them.
---@class winnow.effect.Stored
---@field type 'stored'
---@field chat integer
---@field messages string[]

--- A section that waits for the user, shown already or not.
---@class winnow.Pending
---@field section string
---@field kind 'form'|'patch'|'permission'|'plan'|'question'|'rewind'|'trust'
---@field title string
---@field agent string
---@field since number

--- What the chat is doing, what waits in it, and what it has cost in US dollars.
---@class winnow.effect.Status
---@field type 'status'
---@field chat integer
---@field state 'asleep'|'connecting'|'failed'|'idle'|'waiting'|'working'
---@field pending winnow.Pending[]
---@field cost number
---@field mode string
---@field ahead integer
---@field background integer
---@field context integer
---@field warning string
---@field again string
---@field until number

--- Something happened: a `User` autocommand of the name `Winnow{name}`.
---@class winnow.effect.Happened
---@field type 'happened'
---@field chat integer
---@field name 'Answered'|'Question'|'TaskEnd'|'TurnEnd'
---@field data table<string, string|number|boolean>

--- Frontmatter values that are known now.
---@class winnow.effect.Meta
---@field type 'meta'
---@field chat integer
---@field values table<string, string>

--- A command or a skill: what `/name` does, and the hint of what may follow it.
---@class winnow.Command
---@field name string
---@field about string
---@field hint string

--- What can be said to the agent, for completion.
---@class winnow.effect.Offered
---@field type 'offered'
---@field chat integer
---@field commands winnow.Command[]

--- Take these mentions out of the draft, as the user could: `u` takes it back.
---@class winnow.effect.Unmention
---@field type 'unmention'
---@field chat integer
---@field mentions string[]

--- Write the chat's file.
---@class winnow.effect.Save
---@field type 'save'
---@field chat integer

--- Show a file beside the chat, at a line (from 1).
---@class winnow.effect.Visit
---@field type 'visit'
---@field chat integer
---@field path string
---@field line integer

--- The agent reads a file from this line on; or has written it: 0, and a line that is new.
---@class winnow.effect.Touched
---@field type 'touched'
---@field chat integer
---@field path string
---@field line integer
---@field text string

--- The agent has written files: show them as they are now, where nothing is unsaved.
---@class winnow.effect.Reload
---@field type 'reload'
---@field path string

--- Which files are changed in a buffer? `Unsaved` says.
---@class winnow.effect.AskUnsaved
---@field type 'askunsaved'
---@field chat integer

--- A chat that goes another way from before a message of the user's, `at` from 0.
---@class winnow.Branch
---@field at integer
---@field title string
---@field path string
---@field changed number
---@field origin boolean

--- Which there are.
---@class winnow.effect.Branches
---@field type 'branches'
---@field chat integer
---@field forks winnow.Branch[]

--- Errors and warnings that the user's language servers and linters have found, also in text
---@class winnow.Diagnostics
---@field tool 'diagnostics'
---@field path string

--- What the user has open in Neovim: files, which of them have unsaved changes, and where the
---@class winnow.Buffers
---@field tool 'buffers'

--- Text as it is in Neovim now, with the user's unsaved changes. What has none is read with
---@class winnow.ReadBuffer
---@field tool 'read_buffer'
---@field path string
---@field first integer
---@field last integer

--- Where a name is defined, as the language server knows it.
---@class winnow.Definition
---@field tool 'definition'
---@field path string
---@field line integer
---@field symbol string

--- All places where a name is used, as the language server knows them. Unlike a search for the
---@class winnow.References
---@field tool 'references'
---@field path string
---@field line integer
---@field symbol string

--- The functions, classes and the like of a file, or those of the project whose names have a
---@class winnow.Symbols
---@field tool 'symbols'
---@field path string
---@field query string

--- The user's quickfix list: places that a build or a search has found.
---@class winnow.Quickfix
---@field tool 'quickfix'

--- Rename a function, variable, class and the like everywhere, by the language server. The user
---@class winnow.Rename
---@field tool 'rename'
---@field path string
---@field line integer
---@field symbol string
---@field new_name string

--- An entry of a quickfix list.
---@class winnow.Item
---@field path string
---@field line integer
---@field text string

--- Give the user a list of places to step through, as a new quickfix list. The user is asked.
---@class winnow.FillQuickfix
---@field tool 'fill_quickfix'
---@field title string
---@field entries winnow.Item[]

--- Show the user a place in Neovim, and move the cursor there. The user is asked; do it only
---@class winnow.Jump
---@field tool 'jump'
---@field path string
---@field line integer

--- Run the test at a place with the user's own command, and read what it says. The user is
---@class winnow.RunTest
---@field tool 'run_test'
---@field path string
---@field line integer

---@alias winnow.Call
---| winnow.Diagnostics
---| winnow.Buffers
---| winnow.ReadBuffer
---| winnow.Definition
---| winnow.References
---| winnow.Symbols
---| winnow.Quickfix
---| winnow.Rename
---| winnow.FillQuickfix
---| winnow.Jump
---| winnow.RunTest

--- Claude asks for something: do it, and say with `EditorAnswer` what came of it.
---@class winnow.effect.EditorCall
---@field type 'editorcall'
---@field id string
---@field of integer
---@field cwd string
---@field deadline number
---@field call winnow.Call
---@field dry boolean
---@field files string[]

--- Nobody waits for this `EditorCall` any more: end it.
---@class winnow.effect.EditorDrop
---@field type 'editordrop'
---@field id string

--- What can be chosen in this chat: models, each with what is said of it, and efforts.
---@class winnow.effect.Offers
---@field type 'offers'
---@field chat integer
---@field models table<string, string>
---@field efforts string[]

--- Show a file as it is beside what the open patch makes of it.
---@class winnow.effect.Sides
---@field type 'sides'
---@field chat integer
---@field path string
---@field old string[]
---@field new string[]

--- Show the permission mode and the rules in force, or what was decided about a project.
---@class winnow.effect.Rules
---@field type 'rules'
---@field lines string[]

--- Show the ledger in a buffer of its own.
---@class winnow.effect.Decisions
---@field type 'decisions'
---@field lines string[]

--- All that stands above the draft of a task, its open section aside.
---@class winnow.effect.Transcript
---@field type 'transcript'
---@field chat integer
---@field lines string[]
---@field earlier boolean

--- The lines of a list. `done`: what was asked for by `EditList` is.
---@class winnow.effect.Listed
---@field type 'listed'
---@field name string
---@field of integer
---@field lines string[]
---@field done boolean
---@field at integer
---@field more boolean

--- A line (from 0) of an `EditList` can't be understood; nothing is done.
---@class winnow.effect.ListProblem
---@field type 'listproblem'
---@field name string
---@field of integer
---@field row integer
---@field sentence string

--- Is what an `EditList` would do really meant? Then it comes again with `force`.
---@class winnow.effect.ListAsks
---@field type 'listasks'
---@field name string
---@field of integer
---@field sentence string

--- Show Markdown beside the cursor.
---@class winnow.effect.Peeked
---@field type 'peeked'
---@field lines string[]

--- Something to pick: a line of a list, and what it says.
---@class winnow.Choice
---@field key string
---@field text string

--- Let the user pick one of these; `PickLine` says which.
---@class winnow.effect.Pick
---@field type 'pick'
---@field name string
---@field of integer
---@field prompt string
---@field choices winnow.Choice[]

--- Close the chats of these paths, and move their files into the trash.
---@class winnow.effect.Discard
---@field type 'discard'
---@field paths string[]

--- Give the chat of this path a title; empty: the one that it has by itself.
---@class winnow.effect.Retitle
---@field type 'retitle'
---@field path string
---@field title string

--- Send this, which the user has said elsewhere; it waits with what waits already.
---@class winnow.effect.Remark
---@field type 'remark'
---@field chat integer
---@field text string

--- Make a chat of what was said elsewhere, and go there.
---@class winnow.effect.Adopt
---@field type 'adopt'
---@field cwd string
---@field values table<string, string>
---@field lines string[]
---@field draft string
---@field late boolean

--- Go to the chat of this path.
---@class winnow.effect.OpenChat
---@field type 'openchat'
---@field path string

--- Show what is kept of worktrees in the repository at `cwd`; each line begins with a name.
---@class winnow.effect.KeptTrees
---@field type 'kepttrees'
---@field cwd string
---@field lines string[]

--- Show a run's timeline in a buffer of its own.
---@class winnow.effect.Lived
---@field type 'lived'
---@field lines string[]

--- A file to be written; `name` comes after a number.
---@class winnow.File
---@field name string
---@field lines string[]

--- Write new files: into the folder `path`, or the one of that very path.
---@class winnow.effect.Export
---@field type 'export'
---@field path string
---@field files winnow.File[]

---@alias winnow.Event
---| winnow.event.Open
---| winnow.event.Send
---| winnow.event.Refilled
---| winnow.event.Queue
---| winnow.event.Stop
---| winnow.event.Pace
---| winnow.event.SetMode
---| winnow.event.VisitAgent
---| winnow.event.WatchAgent
---| winnow.event.PickInAgent
---| winnow.event.AgentBeside
---| winnow.event.TellTodo
---| winnow.event.Promote
---| winnow.event.Background
---| winnow.event.Again
---| winnow.event.Budget
---| winnow.event.Compact
---| winnow.event.Choose
---| winnow.event.Mentions
---| winnow.event.Wake
---| winnow.event.Merge
---| winnow.event.AskAside
---| winnow.event.EndAside
---| winnow.event.FindBranches
---| winnow.event.Rewind
---| winnow.event.Unsaved
---| winnow.event.Review
---| winnow.event.Accept
---| winnow.event.Saved
---| winnow.event.VisitChange
---| winnow.event.EditorAnswer
---| winnow.event.Edit
---| winnow.event.Confirm
---| winnow.event.Keep
---| winnow.event.Cancel
---| winnow.event.Reopen
---| winnow.event.Discuss
---| winnow.event.Grant
---| winnow.event.Compare
---| winnow.event.Unshown
---| winnow.event.Close
---| winnow.event.Watched
---| winnow.event.Recall
---| winnow.event.Trust
---| winnow.event.WatchList
---| winnow.event.EditList
---| winnow.event.PickLine
---| winnow.event.Peek
---| winnow.event.GoToRun
---| winnow.event.Timeline
---| winnow.event.GoOn
---| winnow.event.HaltRun
---| winnow.event.HandOver
---| winnow.event.FindChats
---| winnow.event.Fork
---| winnow.event.Resume
---| winnow.event.Restore
---| winnow.event.LeaveTree

---@alias winnow.Effect
---| winnow.effect.Write
---| winnow.effect.Tool
---| winnow.effect.Live
---| winnow.effect.AgentPage
---| winnow.effect.Promoted
---| winnow.effect.Section
---| winnow.effect.Verdict
---| winnow.effect.Say
---| winnow.effect.Notify
---| winnow.effect.Move
---| winnow.effect.Reveal
---| winnow.effect.Delete
---| winnow.effect.Fill
---| winnow.effect.Freeze
---| winnow.effect.Take
---| winnow.effect.Hold
---| winnow.effect.Taken
---| winnow.effect.AsideSaid
---| winnow.effect.Refill
---| winnow.effect.Stored
---| winnow.effect.Status
---| winnow.effect.Happened
---| winnow.effect.Meta
---| winnow.effect.Offered
---| winnow.effect.Unmention
---| winnow.effect.Save
---| winnow.effect.Visit
---| winnow.effect.Touched
---| winnow.effect.Reload
---| winnow.effect.AskUnsaved
---| winnow.effect.Branches
---| winnow.effect.EditorCall
---| winnow.effect.EditorDrop
---| winnow.effect.Offers
---| winnow.effect.Sides
---| winnow.effect.Rules
---| winnow.effect.Decisions
---| winnow.effect.Transcript
---| winnow.effect.Listed
---| winnow.effect.ListProblem
---| winnow.effect.ListAsks
---| winnow.effect.Peeked
---| winnow.effect.Pick
---| winnow.effect.Discard
---| winnow.effect.Retitle
---| winnow.effect.Remark
---| winnow.effect.Adopt
---| winnow.effect.OpenChat
---| winnow.effect.KeptTrees
---| winnow.effect.Lived
---| winnow.effect.Export

---@alias winnow.EventType
---| 'open'
---| 'send'
---| 'refilled'
---| 'queue'
---| 'stop'
---| 'pace'
---| 'setmode'
---| 'visitagent'
---| 'watchagent'
---| 'pickinagent'
---| 'agentbeside'
---| 'telltodo'
---| 'promote'
---| 'background'
---| 'again'
---| 'budget'
---| 'compact'
---| 'choose'
---| 'mentions'
---| 'wake'
---| 'merge'
---| 'askaside'
---| 'endaside'
---| 'findbranches'
---| 'rewind'
---| 'unsaved'
---| 'review'
---| 'accept'
---| 'saved'
---| 'visitchange'
---| 'editoranswer'
---| 'edit'
---| 'confirm'
---| 'keep'
---| 'cancel'
---| 'reopen'
---| 'discuss'
---| 'grant'
---| 'compare'
---| 'unshown'
---| 'close'
---| 'watched'
---| 'recall'
---| 'trust'
---| 'watchlist'
---| 'editlist'
---| 'pickline'
---| 'peek'
---| 'gotorun'
---| 'timeline'
---| 'goon'
---| 'haltrun'
---| 'handover'
---| 'findchats'
---| 'fork'
---| 'resume'
---| 'restore'
---| 'leavetree'

---@class winnow.Effects
---@field write fun(chat: winnow.Chat, effect: winnow.effect.Write)
---@field tool fun(chat: winnow.Chat, effect: winnow.effect.Tool)
---@field live fun(chat: winnow.Chat, effect: winnow.effect.Live)
---@field agentpage fun(chat: winnow.Chat, effect: winnow.effect.AgentPage)
---@field promoted fun(chat: winnow.Chat, effect: winnow.effect.Promoted)
---@field section fun(chat: winnow.Chat, effect: winnow.effect.Section)
---@field verdict fun(chat: winnow.Chat, effect: winnow.effect.Verdict)
---@field say fun(chat: winnow.Chat, effect: winnow.effect.Say)
---@field notify fun(chat: nil, effect: winnow.effect.Notify)
---@field move fun(chat: winnow.Chat, effect: winnow.effect.Move)
---@field reveal fun(chat: winnow.Chat, effect: winnow.effect.Reveal)
---@field delete fun(chat: winnow.Chat, effect: winnow.effect.Delete)
---@field fill fun(chat: winnow.Chat, effect: winnow.effect.Fill)
---@field freeze fun(chat: winnow.Chat, effect: winnow.effect.Freeze)
---@field take fun(chat: winnow.Chat, effect: winnow.effect.Take)
---@field hold fun(chat: winnow.Chat, effect: winnow.effect.Hold)
---@field taken fun(chat: winnow.Chat, effect: winnow.effect.Taken)
---@field asidesaid fun(chat: winnow.Chat, effect: winnow.effect.AsideSaid)
---@field refill fun(chat: winnow.Chat, effect: winnow.effect.Refill)
---@field stored fun(chat: winnow.Chat, effect: winnow.effect.Stored)
---@field status fun(chat: winnow.Chat, effect: winnow.effect.Status)
---@field happened fun(chat: winnow.Chat, effect: winnow.effect.Happened)
---@field meta fun(chat: winnow.Chat, effect: winnow.effect.Meta)
---@field offered fun(chat: winnow.Chat, effect: winnow.effect.Offered)
---@field unmention fun(chat: winnow.Chat, effect: winnow.effect.Unmention)
---@field save fun(chat: winnow.Chat, effect: winnow.effect.Save)
---@field visit fun(chat: winnow.Chat, effect: winnow.effect.Visit)
---@field touched fun(chat: winnow.Chat, effect: winnow.effect.Touched)
---@field reload fun(chat: nil, effect: winnow.effect.Reload)
---@field askunsaved fun(chat: winnow.Chat, effect: winnow.effect.AskUnsaved)
---@field branches fun(chat: winnow.Chat, effect: winnow.effect.Branches)
---@field editorcall fun(chat: nil, effect: winnow.effect.EditorCall)
---@field editordrop fun(chat: nil, effect: winnow.effect.EditorDrop)
---@field offers fun(chat: winnow.Chat, effect: winnow.effect.Offers)
---@field sides fun(chat: winnow.Chat, effect: winnow.effect.Sides)
---@field rules fun(chat: nil, effect: winnow.effect.Rules)
---@field decisions fun(chat: nil, effect: winnow.effect.Decisions)
---@field transcript fun(chat: winnow.Chat, effect: winnow.effect.Transcript)
---@field listed fun(chat: nil, effect: winnow.effect.Listed)
---@field listproblem fun(chat: nil, effect: winnow.effect.ListProblem)
---@field listasks fun(chat: nil, effect: winnow.effect.ListAsks)
---@field peeked fun(chat: nil, effect: winnow.effect.Peeked)
---@field pick fun(chat: nil, effect: winnow.effect.Pick)
---@field discard fun(chat: nil, effect: winnow.effect.Discard)
---@field retitle fun(chat: nil, effect: winnow.effect.Retitle)
---@field remark fun(chat: winnow.Chat, effect: winnow.effect.Remark)
---@field adopt fun(chat: nil, effect: winnow.effect.Adopt)
---@field openchat fun(chat: nil, effect: winnow.effect.OpenChat)
---@field kepttrees fun(chat: nil, effect: winnow.effect.KeptTrees)
---@field lived fun(chat: nil, effect: winnow.effect.Lived)
---@field export fun(chat: nil, effect: winnow.effect.Export)
