/** Appends lines that came in a body, and recognizes its own lines if the storage refuses them. */
import { hasStorageCode, type Head, type SessionStorage, StorageError } from "@sessions/core/storage"
import * as z from "zod"
import { toText } from "../answers.ts"
import { invalid } from "../refusal.ts"
import type { AppendHead } from "./protocol.ts"
import { repeatsOf } from "../repeats.ts"

const head = z.strictObject({ next: z.int().min(1), log: z.string() })

/** The first line of the body. */
export const appendHead: z.ZodType<AppendHead> = z.strictObject({
  expect: z.union([z.literal(0), head]),
  lines: z.int().min(1),
  info: z.string().exactOptional(),
})

export interface Append extends AppendHead {
  readonly content: readonly string[]
}

/** Reads the body of an append; 400 if it is none, or was cut off. `mark`: of the line that its lines follow, if the client has sent it. */
export function toAppend(body: Uint8Array, mark: number | undefined): Append {
  const [first = "", ...content] = toText(body).split("\n")
  // The text behind the last LF.
  const rest = content.pop()
  let json: unknown
  try {
    json = JSON.parse(first)
  } catch {
    throw invalid("The first line of the body is not JSON.")
  }
  const { success, data } = appendHead.safeParse(json)
  if (!success) throw invalid('The first line of the body must be {"expect", "lines", "info"?}.')
  if (rest !== "" || content.length !== data.lines) throw invalid("The body does not have as many lines as it says.")
  const { expect } = data
  return { ...data, content, expect: expect === 0 || mark === undefined ? expect : { ...expect, mark } }
}

/**
 * The new head. A repeat gets the outcome of its first request. If the storage refuses the lines because they are there, put by the same
 * request through another server, they are acknowledged.
 */
export function appendLines(
  storage: SessionStorage,
  session: string,
  append: Append,
  id: string | undefined,
): Promise<Head> {
  const repeats = repeatsOf(storage)
  const { expect, info, content } = append
  const from = expect === 0 ? 0 : expect.next
  return repeats.once(id && `append ${session} ${id}`, async () => {
    try {
      const { next, log } = await storage.append(session, content, { expect, ...(info !== undefined && { info }) })
      repeats.wrote(placeOf(session, log, from), id)
      return { next, log }
    } catch (error) {
      if (!hasStorageCode(error, "conflict")) throw error
      const own = await ownLines(storage, session, append, from, id)
      if (own === undefined) throw error
      return own
    }
  })
}

/** The head after the lines of the append, if they are in the log at its place and no other request is known to have put them there. */
async function ownLines(
  storage: SessionStorage,
  session: string,
  { expect, content }: Append,
  from: number,
  id: string | undefined,
): Promise<Head | undefined> {
  try {
    const log = expect === 0 ? (await storage.head(session))?.log : expect.log
    if (log === undefined) return undefined
    const writer = repeatsOf(storage).writerOf(placeOf(session, log, from))
    if (writer !== undefined && writer !== id) return undefined
    const to = from + content.length
    let next = from
    for await (const { lines } of storage.read(session, { from, to, log })) {
      for (const line of lines) {
        if (line !== content[next - from]) return undefined
        next++
      }
    }
    return next === to ? { next, log } : undefined
  } catch (cause) {
    if (hasStorageCode(cause, "conflict")) return undefined
    const message =
      "The append was refused, and its lines could not be looked for; read the log to see whether it has them."
    throw new StorageError("indeterminate", message, { session, cause })
  }
}

function placeOf(session: string, log: string, seq: number): string {
  return `lines ${session} ${seq} ${log}`
}
