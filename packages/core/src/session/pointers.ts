/** Pointers: named references to the last used session, for example one for each terminal. Stored as documents. */
import { SessionError } from "../format/errors.ts"
import { checkCallOptions, type OptionChecks } from "../format/options.ts"
import { isAnything, isString } from "../format/shape.ts"
import { checkSessionId } from "../storage/checks.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { shown } from "../storage/options.ts"
import { updateDoc } from "../storage/update-doc.ts"
import type { Pointer, Pointers } from "./repository-types.ts"

const POINTER: OptionChecks<Pointer> = { session: isAnything, cwd: isString }

export function createPointers(storage: SessionStorage): Pointers {
  return {
    async set(name, pointer, o = {}) {
      checkCallOptions("pointers.set", pointer, POINTER, {}, "pointer.")
      const { session, cwd } = pointer
      checkSessionId(session)
      const key = keyOf(name)
      const text = JSON.stringify({ session, cwd })
      // The last write wins.
      await updateDoc(storage.docs, key, () => text, o)
    },
    async get(name, o = {}) {
      const doc = await storage.docs.get(keyOf(name), o)
      return doc === undefined ? undefined : parsePointer(doc.text)
    },
    async delete(name, o = {}) {
      await updateDoc(storage.docs, keyOf(name), () => null, o)
    },
  }
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
