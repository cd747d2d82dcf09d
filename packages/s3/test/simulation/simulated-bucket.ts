/** A bucket that remembers its earlier listings, so that a faulty store can answer with a stale one. */
import type { ObjectPage, PutCondition, PutResult } from "../../src/index.ts"
import { FakeBucket } from "../fake-bucket.ts"
import type { Clock } from "./clock.ts"

/** The simulated store's clock at the beginning, in milliseconds since the epoch. */
export const EPOCH = 1_700_000_000_000

/** The age of the oldest listing that is answered, in milliseconds. */
export const STALEST = 120_000
const PAGE_SIZE = 3

interface Snapshot {
  readonly time: number
  readonly objects: ObjectPage["objects"]
}

export class SimulatedBucket extends FakeBucket {
  readonly #clock: Clock
  readonly #snapshots: [Snapshot, ...Snapshot[]] = [{ time: 0, objects: [] }]

  constructor(clock: Clock) {
    super({ now: () => EPOCH + clock.now(), pageSize: PAGE_SIZE })
    this.#clock = clock
    const remove = this.objects.delete.bind(this.objects)
    this.objects.delete = (key) => {
      const removed = remove(key)
      if (removed) this.changed(key, undefined)
      return removed
    }
  }

  override put(key: string, bytes: Uint8Array, condition?: PutCondition): PutResult {
    const result = super.put(key, bytes, condition)
    this.changed(key, bytes)
    return result
  }

  /** A page of the listing as it was at an earlier time. */
  listAt(time: number, prefix: string, after = ""): ObjectPage {
    const { objects } = this.#snapshots.findLast((one) => one.time <= time) ?? this.#snapshots[0]
    const found = objects.filter(({ key }) => key.startsWith(prefix) && key > after)
    const page = found.slice(0, PAGE_SIZE)
    return found.length > page.length ? { objects: page, next: page.at(-1)?.key as string } : { objects: page }
  }

  /** Called after every change; `bytes` is undefined for an object that was removed. */
  protected changed(_key: string, _bytes: Uint8Array | undefined): void {
    const objects = [...this.objects]
      .map(([key, { etag, size, lastModified }]) => ({ key, etag, size, lastModified }))
      .sort((a, b) => (a.key < b.key ? -1 : 1))
    const time = this.#clock.now()
    this.#snapshots.push({ time, objects })
    while ((this.#snapshots[1]?.time ?? time) < time - STALEST) this.#snapshots.shift()
  }
}
