/** Sessions with several writers, and short helpers to append and to read their logs. */
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import type { NewEntry } from "../src/format/new-entry.ts"
import type { Entry } from "../src/format/entry.ts"
import { createSessions } from "../src/session/repository.ts"
import type { Session } from "../src/session/types.ts"
import type { SessionsOptions, Sessions } from "../src/session/repository-types.ts"
import type { SessionStorage } from "../src/storage/contract.ts"
import { createFaultyStorage, type FaultyOptions, type FaultyStorage } from "@sessions/conformance/faults"

export interface Writer {
  readonly storage: FaultyStorage
  readonly sessions: Sessions
}

export function createWriter(
  location: MemoryLocation = createMemoryLocation(),
  o: Omit<SessionsOptions, "storage"> & { readonly faulty?: FaultyOptions } = {},
): Writer {
  const { faulty, ...options } = o
  const storage = createFaultyStorage(createMemoryStorage({ location }), faulty)
  return { storage, sessions: createSessions({ ...options, storage }) }
}

/** Two independent repositories on one session `s`; the second has opened the session that the first created. */
export async function twoWriters(
  o: Omit<SessionsOptions, "storage"> = {},
  before: readonly NewEntry[] = [],
): Promise<{
  readonly location: MemoryLocation
  readonly one: Session
  readonly two: Session
  readonly writerOne: Writer
  readonly writerTwo: Writer
}> {
  const location = createMemoryLocation()
  const writerOne = createWriter(location, o)
  const writerTwo = createWriter(location, o)
  const one = await writerOne.sessions.create({ id: "s" })
  if (before.length > 0) await one.append(before)
  const two = await writerTwo.sessions.open("s")
  return { location, one, two, writerOne, writerTwo }
}

export function user(text: string, id?: string): NewEntry {
  return { type: "message", message: { role: "user", content: text }, ...(id === undefined ? {} : { id }) }
}

export function assistant(text: string, id?: string): NewEntry {
  return { type: "message", message: { role: "assistant", content: text }, ...(id === undefined ? {} : { id }) }
}

export function note(text: string, id?: string): NewEntry {
  return { type: "custom", customType: "note", data: text, ...(id === undefined ? {} : { id }) }
}

/** The entries of a stored log, read directly from the storage. */
export async function storedEntries(location: MemoryLocation, id = "s"): Promise<Entry[]> {
  const lines = await storedLines(createMemoryStorage({ location }), id)
  return lines.slice(1).map((line) => JSON.parse(line) as Entry)
}

export async function storedLines(storage: SessionStorage, id = "s"): Promise<string[]> {
  const lines: string[] = []
  for await (const chunk of storage.read(id)) lines.push(...chunk.lines)
  return lines
}

export async function storedIds(location: MemoryLocation, id = "s"): Promise<string[]> {
  return (await storedEntries(location, id)).map((entry) => entry.id)
}

/** The session as a new reader opens it. */
export async function reopened(location: MemoryLocation, id = "s"): Promise<Session> {
  return createSessions({ storage: createMemoryStorage({ location }) }).open(id)
}

/** The texts of the context's messages. */
export async function contextTexts(session: Session): Promise<string[]> {
  const { messages } = await session.context({ repair: "none" })
  return messages.map(({ message }) => {
    const { content } = message as { content: readonly { text?: string }[] }
    return content.map((block) => block.text ?? "").join("")
  })
}

/** The error of a promise that must reject, with its `code` if it has one. */
export async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  const error = await promise.then(
    () => new Error("It did not reject."),
    (reason: unknown) => reason,
  )
  return (error as { code?: unknown }).code ?? error
}
