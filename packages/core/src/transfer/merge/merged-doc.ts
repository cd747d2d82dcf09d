/**
 * The document `sessions/<id>/merged`: with which storages the session was merged, and how both logs ended then. It proves that a session
 * which is missing there was deleted there, and that two logs which have not changed since need not be read.
 */
import { isObject } from "../../format/shape.ts"
import { isHead } from "../../storage/checks.ts"
import type { CallOptions, Head, SessionStorage } from "../../storage/contract.ts"
import { updateDoc } from "../../storage/update-doc.ts"

/** The ends of both logs after the last merge with one storage. */
export interface Merged {
  readonly here: Head
  readonly there: Head
  /** The entry at which both logs end. */
  readonly leaf: string | null
  /** Ids of the entries with other content there. */
  readonly differing: readonly string[]
}

/** Undefined if the session was never merged with that storage. A damaged document counts as a merge of logs that are not known. */
export async function mergedBefore(
  here: SessionStorage,
  id: string,
  there: SessionStorage,
  o: CallOptions,
): Promise<Partial<Merged> | undefined> {
  const doc = await here.docs.get(keyOf(id), o)
  const known = doc === undefined ? {} : parsed(doc.text)
  if (!Object.hasOwn(known, there.description)) return undefined
  const found = known[there.description]
  return isMerged(found) ? found : {}
}

/** Whether the logs still end as that merge left them. */
export function isUnchanged(before: Partial<Merged>, here: Head, there: Head): before is Merged {
  return isSameEnd(before.here, here) && isSameEnd(before.there, there)
}

export async function storeMerged(
  here: SessionStorage,
  id: string,
  there: SessionStorage,
  merged: Merged,
  o: CallOptions,
): Promise<void> {
  const withThere = (text: string | undefined): string => {
    const others = text === undefined ? {} : parsed(text)
    return JSON.stringify({ v: 1, with: Object.fromEntries([...Object.entries(others), [there.description, merged]]) })
  }
  await updateDoc(here.docs, keyOf(id), withThere, o)
}

function keyOf(id: string): string {
  return `sessions/${id}/merged`
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const { with: found } = JSON.parse(text) as { with?: unknown }
    return isObject(found) ? found : {}
  } catch {
    return {}
  }
}

function isMerged(value: unknown): value is Merged {
  if (!isObject(value)) return false
  const { here, there, leaf, differing } = value
  return (
    isHead(here) &&
    isHead(there) &&
    (leaf === null || typeof leaf === "string") &&
    Array.isArray(differing) &&
    differing.every((id) => typeof id === "string")
  )
}

function isSameEnd(one: Head | undefined, other: Head): boolean {
  return one?.log === other.log && one.next === other.next
}
