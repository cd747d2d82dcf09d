/** One simulated run of documents and blobs: several processes change them over a faulty store; then the records are checked. */
import { createHash } from "node:crypto"
import { hasStorageCode, type StorageErrorCode } from "@sessions/core/storage"
import { createDice, type Dice } from "../../../core/test/dice.ts"
import { type Clock, createClock } from "./clock.ts"
import { createFaultyStore, LATEST, type Network } from "./faulty-store.ts"
import type { ObjectDesign } from "./object-designs.ts"
import { ObservedObjects } from "./observed-objects.ts"
import { startProcess, withoutFaults } from "./process.ts"
import type { Outcome } from "./simulate.ts"

// Web Crypto hashes on another thread, so that its result would arrive at a random moment of the simulated time.
crypto.subtle.digest = async (_algorithm, bytes) => {
  const hash = createHash("sha256")
    .update(bytes as Uint8Array)
    .digest()
  return Uint8Array.from(hash).buffer
}

type Storage = ReturnType<ObjectDesign["open"]>

/** Codes that faults may cause; any other code is a violation. */
const EXPECTED: readonly StorageErrorCode[] = ["conflict", "indeterminate", "unavailable"]

export async function simulateObjects(design: ObjectDesign, seed: number): Promise<Outcome> {
  const dice = createDice(seed)
  const clock = createClock()
  const observed = new ObservedObjects(clock)
  const network: Network = { faultRate: dice.pick([0, 0.05, 0.2, 0.4]), late: 0 }
  const jumps = { clockJumps: dice.chance(0.3) }
  const start = (): ReturnType<typeof startProcess<Storage>> =>
    startProcess(
      (store, time) => design.open(store, time),
      createFaultyStore(observed, clock, dice, network),
      clock.machine(dice, dice.below(1_000_000) - 500_000),
      dice,
      jumps,
    )
  const deathRate = dice.pick([0, 0, 0.1])
  const key = dice.chance(0.5) ? "pointer" : "sessions/one/notes"
  const wait = (ms: number): Promise<void> => new Promise((resolve) => void clock.at(ms, resolve))
  let running = 0

  async function run(step: (storage: Storage, n: number) => Promise<void>): Promise<void> {
    running++
    let living = start()
    for (let n = 0; n < 8; n++) {
      if (dice.chance(deathRate)) {
        void step(living.storage, n)
        await wait(dice.below(300))
        living.kill()
        living = start()
      } else await step(living.storage, n)
      await wait(dice.below(200))
    }
    running--
  }

  for (let n = 0; n < 3; n++)
    void run((storage, step) => changeDocument(storage, key, `<${n}.${step}>`, dice, observed))
  for (let n = 0; n < 2; n++) void run((storage) => putOrGetBlob(storage, dice, observed))
  void run((storage) => deleteBlob(storage, dice, observed))
  void run(async (storage) => {
    if (dice.chance(0.4)) await attempt(observed, () => storage.collect())
    if (dice.chance(0.1)) await wait(dice.below(4 * LATEST))
  })
  if (!(await clock.until(() => running === 0))) observed.problems.push(`${running} actors never finish`)
  network.faultRate = 0
  await clock.until(() => network.late === 0)
  const { storage } = start()
  await settled(clock, async () => {
    const found = await withoutFaults(jumps, () => storage.docs.get(key))
    if (found?.text !== observed.document)
      observed.problems.push("the document that is read is not the one in the bucket")
    for (const content of CONTENTS) {
      const hash = await observed.hashOf(content)
      const isKept = observed.isKept(hash)
      checkBlob(await withoutFaults(jumps, () => storage.blobs.get(hash)), content, isKept, observed)
    }
  })
  return { ...observed.counts(), violations: [...observed.problems, ...observed.violationsOfChanges()] }
}

/** A document is a list of tokens. Each change adds one, or deletes the document. */
async function changeDocument(
  { docs }: Storage,
  key: string,
  token: string,
  dice: Dice,
  observed: ObservedObjects,
): Promise<void> {
  const since = observed.documents.length - 1
  const found = await attempt(observed, () => docs.get(key))
  if (!found.done) return
  const { value: doc } = found
  if (!observed.documents.slice(since).includes(doc?.text))
    observed.problems.push(`a reader got the document ${doc?.text}`)
  const isDelete = doc !== undefined && dice.chance(0.15)
  const change = observed.startChange(isDelete ? undefined : token)
  const changed = await attempt<unknown>(observed, () =>
    isDelete
      ? docs.delete(key, { expect: doc.version })
      : docs.put(key, `${doc?.text ?? ""}${token}`, { expect: doc?.version ?? null }),
  )
  change.outcome = changed.done ? "acknowledged" : changed.code
}

/** Few, so that they are put and deleted again and again. */
const CONTENTS: readonly Uint8Array[] = [0, 1].map((n) => new TextEncoder().encode(`content ${n} ${"x".repeat(80)}`))

async function putOrGetBlob(storage: Storage, dice: Dice, observed: ObservedObjects): Promise<void> {
  const content = dice.pick(CONTENTS)
  if (dice.chance(0.3)) return getBlob(storage, content, observed)
  const begin = observed.now()
  const put = await attempt(observed, () => storage.blobs.put(content))
  if (put.done) observed.blobPut(put.value, begin)
}

async function getBlob({ blobs }: Storage, content: Uint8Array, observed: ObservedObjects): Promise<void> {
  const hash = await observed.hashOf(content)
  const mustBeThere = observed.isKept(hash)
  const got = await attempt(observed, () => blobs.get(hash))
  if (got.done) checkBlob(got.value, content, mustBeThere && observed.isKept(hash), observed)
}

function checkBlob(
  bytes: Uint8Array | undefined,
  content: Uint8Array,
  isKept: boolean,
  observed: ObservedObjects,
): void {
  if (bytes !== undefined && bytes.join() !== content.join()) observed.problems.push("a blob has other bytes")
  if (bytes === undefined && isKept) observed.problems.push("a blob was not found")
}

async function deleteBlob({ blobs }: Storage, dice: Dice, observed: ObservedObjects): Promise<void> {
  const hash = await observed.hashOf(dice.pick(CONTENTS))
  const ifPutBefore = observed.now() - dice.below(1_500)
  observed.blobMayBeDeleted(hash, ifPutBefore)
  await attempt(observed, () => blobs.delete(hash, { ifPutBefore }))
}

type Attempt<T> = { readonly done: true; readonly value: T } | { readonly done: false; readonly code: string }

async function attempt<T>(observed: ObservedObjects, call: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { done: true, value: await call() }
  } catch (error) {
    const code = EXPECTED.find((one) => hasStorageCode(error, one))
    if (code === undefined) observed.problems.push(`a call rejected with ${String(error)}`)
    return { done: false, code: code ?? "unexpected" }
  }
}

async function settled(clock: Clock, call: () => Promise<void>): Promise<void> {
  let ended = false
  const end = (): void => void (ended = true)
  const calling = call()
  calling.then(end, end)
  if (!(await clock.until(() => ended))) throw new Error("A call never settles.")
  return calling
}
