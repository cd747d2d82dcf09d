/** Pointers: named references to the last used session, for example one for each terminal. Stored as documents. */
import { SessionError } from "../format/errors.ts"
import { checkCallOptions, type OptionChecks } from "../format/options.ts"
import { isAnything, isString } from "../format/shape.ts"
import { CALL } from "../session/arguments.ts"
import { insideOfSessions } from "../session/inside.ts"
import type { Sessions } from "../session/repository-types.ts"
import { checkSessionId } from "../storage/checks.ts"
import type { CallOptions, SessionStorage } from "../storage/contract.ts"
import { shown } from "../storage/options.ts"
import { updateDoc } from "../storage/update-doc.ts"
import type { Pointer } from "./types.ts"

const POINTER: OptionChecks<Pointer> = { session: isAnything, cwd: isString }

/** Sets the pointer of this name, 1 to 48 of A-Z a-z 0-9 _ -. The last call wins. */
export async function setPointer(
  sessions: Sessions,
  name: string,
  pointer: Pointer,
  o: CallOptions = {},
): Promise<void> {
  const docs = docsOf("setPointer", sessions, o)
  checkCallOptions("setPointer", pointer, POINTER, {}, "pointer.")
  const { session, cwd } = pointer
  checkSessionId(session)
  const key = keyOf(name)
  const text = JSON.stringify({ session, cwd })
  await updateDoc(docs, key, () => text, o)
}

/** Undefined if there is no pointer of this name. The session may be gone. */
export async function getPointer(sessions: Sessions, name: string, o: CallOptions = {}): Promise<Pointer | undefined> {
  const doc = await docsOf("getPointer", sessions, o).get(keyOf(name), o)
  return doc === undefined ? undefined : parsePointer(doc.text)
}

export async function deletePointer(sessions: Sessions, name: string, o: CallOptions = {}): Promise<void> {
  await updateDoc(docsOf("deletePointer", sessions, o), keyOf(name), () => null, o)
}

function docsOf(call: string, sessions: Sessions, o: CallOptions): SessionStorage["docs"] {
  checkCallOptions(call, o, CALL)
  insideOfSessions(call, sessions)
  return sessions.storage.docs
}

function keyOf(name: unknown): string {
  if (typeof name === "string" && /^[A-Za-z0-9][A-Za-z0-9_-]{0,47}$/.test(name)) return `pointer.${name}`
  throw new SessionError("invalid", `${shown(name)} is not a pointer's name: use 1 to 48 of A-Z a-z 0-9 _ -.`)
}

function parsePointer(text: string): Pointer | undefined {
  try {
    const { session, cwd } = JSON.parse(text) as { session?: unknown; cwd?: unknown }
    if (typeof session !== "string") return undefined
    return typeof cwd === "string" ? { session, cwd } : { session }
  } catch {
    // An unreadable pointer counts as missing: the next `set` replaces it.
    return undefined
  }
}
