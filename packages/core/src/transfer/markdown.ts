/** A session as a document for people: the whole history of the current path. */
import type { Entry } from "../format/records.ts"
import type { CallOptions, Seq, SessionStorage } from "../storage/contract.ts"
import type { EntryLog } from "../log/entry-log.ts"
import { defaultLeaf, pathTo } from "../log/path.ts"
import { restoreEntries } from "../log/blobs.ts"
import { currentInfo } from "../info/refresh.ts"
import { projectLog, startProjection } from "../info/projection.ts"
import type { InfoProjection } from "../info/projection.ts"
import { entryToMarkdown } from "./markdown-entry.ts"
import { inlineText, timeText } from "./markdown-text.ts"
import { readWholeLog } from "./whole-log.ts"
import type { WholeLog } from "./whole-log.ts"

/** A piece for the head and for each entry that shows. Deleted entries are left out; what was compacted away is not. */
export async function* toMarkdown(
  storage: SessionStorage,
  id: string,
  o: CallOptions = {},
): AsyncGenerator<string, void, undefined> {
  const whole = await readWholeLog(storage, id, o)
  yield documentHead(id, await foldOf(storage, id, whole, o))
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

/** Of a stored log from what it says; its tree in memory has no values. */
async function foldOf(storage: SessionStorage, id: string, whole: WholeLog, o: CallOptions): Promise<InfoProjection> {
  const head = whole.inMemory ? undefined : await storage.head(id, o)
  if (head !== undefined) return currentInfo(storage, id, head, o)
  const { header, log } = whole
  const slots = Array.from({ length: Math.max(log.end - 1, 0) }, (_, index) => log.at(index + 1))
  return projectLog(startProjection(header, ""), slots)
}

function documentHead(id: string, projection: InfoProjection): string {
  const title = projection.userTitle ?? projection.autoTitle ?? projection.headerTitle ?? `Session ${id}`
  const facts = [`- Session: ${inlineText(id)}`, `- Begun: ${timeText(projection.createdAt)}`]
  if (projection.cwd !== undefined) facts.push(`- Directory: ${inlineText(projection.cwd)}`)
  if (projection.parentSession !== undefined) {
    facts.push(
      `- Forked from: ${inlineText("id" in projection.parentSession ? projection.parentSession.id : projection.parentSession.ref)}`,
    )
  }
  return `# ${inlineText(title)}\n\n${facts.join("\n")}\n`
}
