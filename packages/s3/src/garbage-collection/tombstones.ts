/**
 * Removes old tombstones, so that listings stay short, and what probes left.
 *
 * A tombstone refuses writes that arrive late, so it stays for `keepTombstones`, by the store's clock. It is removed with a condition:
 * a session may be created in its place at any time, and an unconditional DELETE that arrives late would remove that session.
 */
import { createToken } from "../base/time.ts"
import { createTombstone, isTombstone, parseTombstone } from "../format/tombstone.ts"
import { type ListedObject, type ObjectInfo, ObjectStoreError } from "../object-store/object-store.ts"
import { toStorageError } from "../requests/errors.ts"
import { iterateObjects, removeObjects } from "../requests/objects.ts"
import { openObject } from "../requests/open-object.ts"
import { withRetries } from "../requests/retry.ts"
import type { TailDeps } from "../tail/tail-deps.ts"
import { type Collected, found } from "./collect.ts"

const PARALLEL = 32
/** No object has it: S3 derives ETags from MD5. */
const OTHER_ETAG = "0".repeat(32)

/**
 * `inUse`: sessions that had segments or documents. Their tombstones stay: a session without one begins with the first generation, and
 * would have what is left of that.
 */
export async function collectTombstones(
  deps: TailDeps,
  inUse: ReadonlySet<string>,
  dryRun: boolean,
  signal: AbortSignal | undefined,
): Promise<Collected> {
  const { keys } = deps
  const tombstones: ListedObject[] = []
  for (const prefix of [keys.tails, keys.docs, keys.sessionDocs, keys.blobs]) {
    for await (const object of iterateObjects(deps, prefix, signal)) {
      const session = keys.sessionOfTail(object.key)
      if (isTombstone(object.size) && (session === undefined || !inUse.has(session))) tombstones.push(object)
    }
  }
  const probes: ListedObject[] = []
  for await (const object of iterateObjects(deps, keys.probes, signal)) {
    if (keys.isProbe(object.key) && isTombstone(object.size)) probes.push(object)
  }
  if (tombstones.length === 0 && probes.length === 0) return found([])

  // A dry run writes no probe, so it has neither the store's clock nor knows whether the store can remove a tombstone.
  const { now, isConditional } = dryRun
    ? { now: deps.time.now(), isConditional: true }
    : await probeDeletes(deps, signal)
  const isOld = ({ lastModified }: ObjectInfo): boolean => lastModified < now - deps.settings.keepTombstones
  if (dryRun) return found([...probes, ...tombstones].filter(isOld))
  const oldProbes = probes.filter(isOld)
  const leftProbes = await removeObjects(
    deps,
    oldProbes.map(({ key }) => key),
  )
  const old = tombstones.filter(isOld)
  const outcomes: ("removed" | "changed" | "left")[] = []
  for (let at = 0; isConditional && at < old.length; at += PARALLEL) {
    outcomes.push(
      ...(await Promise.all(old.slice(at, at + PARALLEL).map(({ key }) => removeTombstone(deps, key, isOld, signal)))),
    )
  }
  const removed = [
    ...oldProbes.filter(({ key }) => !leftProbes.has(key)),
    ...old.filter((_, n) => outcomes[n] === "removed"),
  ]
  return {
    ...found(removed),
    left: leftProbes.size + outcomes.filter((outcome) => outcome === "left").length,
    tombstones: isConditional ? 0 : old.length,
  }
}

/** Looks at the object first: it may be a later tombstone, or something that was cut off by hand to the size of one. */
async function removeTombstone(
  deps: TailDeps,
  key: string,
  isOld: (object: ObjectInfo) => boolean,
  signal: AbortSignal | undefined,
): Promise<"removed" | "changed" | "left"> {
  try {
    const object = await openObject(deps, key, {}, signal)
    if (object === undefined || object === "unchanged") return "changed"
    if (!isTombstone(object.size) || !isOld(object)) {
      object.cancel()
      return "changed"
    }
    if (parseTombstone(await object.readAll()) === undefined) return "changed"
    await deleteIf(deps, key, object.etag, signal)
    return "removed"
  } catch (error) {
    signal?.throwIfAborted()
    return error instanceof ObjectStoreError && error.failure === "precondition" ? "changed" : "left"
  }
}

/** Tries with an object of its own whether the store honours the condition of a DELETE. Its time is the store's clock. */
async function probeDeletes(
  deps: TailDeps,
  signal: AbortSignal | undefined,
): Promise<{ readonly now: number; readonly isConditional: boolean }> {
  const { store, time, keys } = deps
  const key = keys.probe(createToken(time))
  const [generation, token, createdBy] = [createToken(time), createToken(time), createToken(time)]
  const bytes = createTombstone({ generation, token, createdBy })
  const head = (): ReturnType<typeof store.head> =>
    withRetries(deps, signal, (requestSignal) => store.head(key, { signal: requestSignal }))
  try {
    const { etag } = await withRetries(deps, signal, (requestSignal) =>
      store.put(key, bytes, { signal: requestSignal }),
    )
    const now = (await head())?.lastModified ?? 0
    const wasRefused = !(await deletes(deps, key, OTHER_ETAG, signal)) && (await head())?.etag === etag
    const isConditional = wasRefused && (await deletes(deps, key, etag, signal)) && (await head()) === undefined
    if (!isConditional) await removeObjects(deps, [key])
    return { now, isConditional }
  } catch (error) {
    throw toStorageError(deps, error, "probe conditional deletes", { at: key })
  }
}

/** False if the store refused the DELETE. */
async function deletes(deps: TailDeps, key: string, etag: string, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await deleteIf(deps, key, etag, signal)
    return true
  } catch (error) {
    if (error instanceof ObjectStoreError && REFUSALS.has(error.failure)) return false
    throw error
  }
}

/** A store without conditional DELETE may answer that it is not implemented. */
const REFUSALS: ReadonlySet<string> = new Set(["precondition", "refused"])

async function deleteIf(deps: TailDeps, key: string, etag: string, signal: AbortSignal | undefined): Promise<void> {
  const { conditionalWrites, store } = deps
  const condition = conditionalWrites.conditionFor(etag, (await conditionalWrites.proofHere()).etags)
  // Without conditional writes there is one writer, but its late writes need the tombstones all the same.
  if (condition?.kind !== "match") throw new ObjectStoreError("refused", "no conditions", { certain: true })
  await withRetries(deps, signal, (requestSignal) => store.delete(key, { signal: requestSignal, condition }))
}
