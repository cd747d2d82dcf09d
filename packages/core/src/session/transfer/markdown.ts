/** A session as a document for people: the whole history of the current path. */
import type { Entry, Header } from "../../format/records.ts"
import type { CallOptions, Seq, SessionStorage } from "../../storage/contract.ts"
import type { EntryLog } from "../../tree/entry-log.ts"
import { defaultLeaf, pathTo } from "../../tree/path.ts"
import { restoreEntries } from "../blobs.ts"
import { foldLog, startFold } from "../info/info.ts"
import { entryToMarkdown } from "./markdown-entry.ts"
import { inlineText, timeText } from "./markdown-text.ts"
import { readWholeLog } from "./whole-log.ts"

/** A piece for the head and for each entry that shows. Deleted entries are left out; what was compacted away is not. */
export async function* toMarkdown(
  storage: SessionStorage,
  id: string,
  o: CallOptions = {},
): AsyncGenerator<string, void, undefined> {
  const whole = await readWholeLog(storage, id, o)
  yield documentHead(id, whole.header, whole.log)
  for await (const found of whole.entries(shownSeqs(whole.log))) {
    const { entries } = await restoreEntries(storage, [found.entry()], { ...o, foreign: whole.inMemory })
    const text = entryToMarkdown(entries[0] as Entry)
    if (text !== undefined) yield `\n${text}\n`
  }
}

function shownSeqs(log: EntryLog): ReadonlySet<Seq> {
  const leaf = defaultLeaf(log)
  return new Set(
    leaf === undefined || leaf === null ? [] : pathTo(log, leaf).seqs.filter((seq) => !log.deleted.has(seq)),
  )
}

function documentHead(id: string, header: Header, log: EntryLog): string {
  const slots = Array.from({ length: Math.max(log.end - 1, 0) }, (_, index) => log.at(index + 1))
  const fold = foldLog(startFold(header, ""), slots)
  const title = fold.userTitle ?? fold.autoTitle ?? fold.headerTitle ?? `Session ${id}`
  const facts = [`- Session: ${inlineText(id)}`, `- Begun: ${timeText(fold.createdAt)}`]
  if (fold.cwd !== undefined) facts.push(`- Directory: ${inlineText(fold.cwd)}`)
  if (fold.parentSession !== undefined) {
    facts.push(
      `- Forked from: ${inlineText("id" in fold.parentSession ? fold.parentSession.id : fold.parentSession.ref)}`,
    )
  }
  return `# ${inlineText(title)}\n\n${facts.join("\n")}\n`
}
