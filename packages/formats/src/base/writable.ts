/**
 * A session as its writers see it: records of unknown kinds as the `custom` entries that they were read as, with what the user edited, and
 * entries that a later import has completed as whole ones.
 */
import type { ContentBlock, Entry } from "@sessions/core"
import { completedBy, isReplacement, readSource, REFERENCES, type Source, sourceField, sourcesBy } from "./codec.ts"
import type { SessionToWrite } from "./format.ts"
import { unknownRecordOf } from "./record-types.ts"
import { indexLog } from "./written-path.ts"

const unknown = new WeakSet<Entry>()

/** Whether the kind of the record was not known when it was read. */
export function isUnknownRecord(entry: Entry): boolean {
  return unknown.has(entry)
}

/** Reads an imported session once, and a second time if it has edits. */
export async function writable(session: SessionToWrite): Promise<SessionToWrite> {
  if (session.header.origin === undefined) return session
  let isEdited = false
  const whole = new Map<string, Entry>()
  const replaced = new Set<string>()
  const ids = new Map<string, string>()
  const sources = new Map<string, Source>()
  for await (const entry of session.entries()) {
    const completion = completedBy(entry)
    if (completion !== undefined) whole.set(completion.id, completion)
    for (const [id, source] of sourcesBy(entry)) sources.set(id, source)
    const original = readSource(entry)?.id
    if (original !== undefined) ids.set(entry.id, original)
    if (isReplacement(entry)) replaced.add((entry as Entry & { readonly type: "tombstone" }).targetId)
    isEdited ||= entry.type === "context_edit" && readSource(entry) === undefined
  }
  const index = isEdited ? await indexLog(session) : undefined
  return {
    header: session.header,
    async *entries() {
      for await (const stored of session.entries()) {
        if (replaced.has(stored.id) || isReplacement(stored)) continue
        const entry = ids.size === 0 ? stored : withIdsOfFile(stored, ids)
        const { id, parentId, seq, timestamp } = entry
        const completed = whole.get(id)
        if (completed !== undefined) yield { ...completed, id, parentId, seq, timestamp }
        // Entries that continue the edit continue it still.
        else if (completedBy(entry) !== undefined) yield withoutEffect(entry)
        else {
          const source = sources.get(id)
          const edit = index?.editOf(entry.seq)
          const edited = edit?.isImported === true ? undefined : edit?.content
          yield writableEntry(source === undefined ? entry : { ...entry, [sourceField(entry.type)]: source }, edited)
        }
      }
    },
  }
}

function withIdsOfFile(entry: Entry, ids: ReadonlyMap<string, string>): Entry {
  const fields: Record<string, unknown> = { ...entry }
  for (const name of ["id", "parentId", ...REFERENCES]) {
    const id = ids.get(fields[name] as string)
    if (id !== undefined) fields[name] = id
  }
  return fields as unknown as Entry
}

function withoutEffect(entry: Entry): Entry {
  return { ...entry, targetId: "", replacement: undefined, source: { at: [] } } as unknown as Entry
}

/** `content`: of the edit of the entry that is in force on the current path. */
function writableEntry(entry: Entry, content: readonly ContentBlock[] | null | undefined): Entry {
  const record = unknownRecordOf(entry)
  if (record === undefined) return entry
  if (content === undefined || content === null) {
    unknown.add(record)
    return record
  }
  // A model gets what the user wrote in its place. The record has the text that was replaced.
  const { message } = entry as Entry & { readonly type: "message" }
  const at = readSource(entry)?.at
  return {
    ...entry,
    message: { role: message.role, content },
    ...(at === undefined ? {} : { source: { at } }),
  } as Entry
}
