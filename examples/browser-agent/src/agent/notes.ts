/** The notes that the agent can look up: how this page stores its sessions. */

export interface Note {
  readonly name: string
  readonly title: string
  /** Words in questions that this note answers. */
  readonly about: readonly string[]
  readonly text: string
}

export const NOTES: readonly Note[] = [
  {
    name: "reload",
    title: "When the tab is closed",
    about: ["close", "closed", "reload", "crash", "lost", "lose", "turn", "continue", "battery"],
    text: `Every message is written to IndexedDB before the next step begins. A tab that is closed in the middle of a turn leaves:

- your question, and every tool call with its result
- nothing of an answer that was still being written

When you come back, the turn is shown as unfinished. **Continue** continues it from the end of the log.`,
  },
  {
    name: "branches",
    title: "Branches",
    about: ["branch", "branches", "tree", "edit", "resend", "undo", "again", "version", "versions"],
    text: `A session is a tree, and nothing in it is overwritten. When you edit a question and send it again, the new one is added beside the old one, each with its own answers.

- The arrows at a message step through its versions.
- The list of branches jumps to any of them.
- Looking writes nothing; the next message you send continues the branch you are looking at.`,
  },
  {
    name: "tabs",
    title: "Several tabs",
    about: ["tab", "tabs", "window", "windows", "same", "once", "conflict", "two"],
    text: `Open this page twice and both tabs show the same sessions. An append says which end of the log it has seen, and \`IndexedDB\` takes it only if that is still the end.

When two tabs ask at the same moment, one is first. The other reads what is new, and then either follows it or becomes a branch beside it. **Neither turn is thrown away.**`,
  },
  {
    name: "compaction",
    title: "Compaction",
    about: ["compact", "compaction", "context", "long", "summary", "summarize", "tokens", "full", "memory"],
    text: `A model takes only so many tokens. The bar above the conversation shows how many are taken. At 80 % the older part is summarized by itself, or earlier if you press **Compact**.

The log keeps every message: only what the model gets becomes shorter. The part that the summary replaces is marked by a line at its side.`,
  },
  {
    name: "files",
    title: "Files",
    about: ["export", "import", "file", "files", "jsonl", "backup", "move", "download", "upload", "drop"],
    text: `A session is exported as a \`.jsonl\` file, one record a line:

\`\`\`json
{"type":"session","format":"@sessions","version":4,"id":"01K…"}
{"type":"message","id":"01K…","parentId":null,"seq":1,…}
\`\`\`

Drop such a file anywhere on this page to import it. The copy has an id of its own; every other byte is the same.`,
  },
  {
    name: "storage",
    title: "Storage",
    about: ["storage", "space", "room", "disk", "quota", "keep", "persist", "delete", "evict", "persistent"],
    text: `A browser may clear what a site has stored when the disk fills up. **Keep it** asks it not to. It may agree, ask you, or refuse; Chromium decides by how much you use the site.

If there is no space for a message, it is not written, and it stays in the field where you typed it. Delete a session, then send it again.`,
  },
]
