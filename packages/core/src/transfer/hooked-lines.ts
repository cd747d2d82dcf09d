/** The `append` hooks over the entries of a file: what a repository keeps out of its logs stays out, whichever way it comes in. */
import type { BlobLimits } from "../format/blob-refs.ts"
import type { NewEntry } from "../format/new-entry.ts"
import { normalizeNewEntry, placeEntry } from "../format/normalize.ts"
import type { Entry } from "../format/records.ts"
import type { CallOptions, Seq, SessionStorage } from "../storage/contract.ts"
import { restoreEntries } from "../log/blobs.ts"
import { runAppendHooks } from "../session/hooks.ts"
import type { Hooks } from "../session/hooks.ts"
import { parseEntry } from "../log/parse-entry.ts"
import type { ImportedLog, LineToWrite } from "./log-to-write.ts"
import { toStoredForm } from "./stored-form.ts"

interface Hooking {
  readonly storage: SessionStorage
  readonly hooks: readonly Hooks[]
  readonly limits: BlobLimits
}

/**
 * The log with each entry as the hooks give it back; one that they leave alone keeps its line. Lines are gone through twice, and
 * each entry is asked about once: what the hooks said is remembered. Their error ends the going through.
 */
export function hookedLog(log: ImportedLog, hooking: Hooking, o: CallOptions): ImportedLog {
  if (hooking.hooks.every(({ append }) => append === undefined)) return log
  /** By place; undefined for an entry that stayed as it was. */
  const said = new Map<Seq, LineToWrite | undefined>()
  return {
    ...log,
    async *lines(note) {
      let seq = 0
      for await (const one of log.lines(note)) {
        seq++
        if (!said.has(seq)) said.set(seq, await hooked(log.id, one, seq, hooking, o))
        yield said.get(seq) ?? one
      }
    },
  }
}

async function hooked(
  session: string,
  one: LineToWrite,
  seq: Seq,
  { storage, hooks, limits }: Hooking,
  o: CallOptions,
): Promise<LineToWrite | undefined> {
  const read = one.entry ?? parseEntry(one.line, seq, ignore)
  if (read === undefined) return undefined
  // Hooks see what was said; only what is in no blob store stays a reference.
  const [entry] = (await restoreEntries(storage, [read], o)).entries as [Entry]
  const { parentId, seq: _, blobs, ...given } = entry
  const before = JSON.stringify(given)
  const [changed] = (await runAppendHooks(hooks, [JSON.parse(before) as NewEntry], session)) as [NewEntry]
  if (JSON.stringify(changed) === before) return undefined
  // Others refer to it, so it stays the entry that it was, at its place and time.
  const { id: __, timestamp: ___, ...payload } = changed as unknown as Readonly<Record<string, unknown>>
  const place = { id: entry.id, parentId, seq, timestamp: entry.timestamp }
  const placed = placeEntry(normalizeNewEntry(payload as unknown as NewEntry), place)
  return toStoredForm(storage, blobs === undefined ? placed : { ...placed, blobs }, seq, limits)
}

function ignore(): void {
  // What is damaged is told of by whoever makes the lines; it holds no entry that a hook could look at.
}
