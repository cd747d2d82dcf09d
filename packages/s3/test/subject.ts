import type { Subject } from "@sessions/conformance"
import type { SessionStorage } from "@sessions/core/storage"
import type { EtagForm, ObjectStorageOptions } from "../src/index.ts"
import { createObjectStorage, ObjectStoreError } from "../src/index.ts"
import { FakeBucket } from "./fake-bucket.ts"
import type { FakeStore, StoreFault } from "./fake-store.ts"
import { createFakeStore } from "./fake-store.ts"

export interface FakePlace {
  readonly bucket: FakeBucket
  readonly open: Map<SessionStorage, FakeStore>
}

type Options = Partial<Omit<ObjectStorageOptions, "store" | "name">>

/** Limits that are tried at once. */
const LIMITS = { maxLineBytes: 500_000, maxBatchBytes: 4_000_000 }

/** The adapter over a bucket in memory. */
export function createFakeSubject(
  name: string,
  options: Options = {},
  bucket: { readonly etags?: EtagForm } = {},
): Subject<FakePlace> {
  return {
    name,
    makeLocation: () => ({ bucket: new FakeBucket(bucket), open: new Map() }),
    open(place) {
      const store = createFakeStore(place.bucket)
      const storage = createObjectStorage({ ...LIMITS, ...options, store, name })
      place.open.set(storage, store)
      return storage
    },
    corruptLine({ bucket }, session, seq) {
      const bytes = [...bucket.objects].find(([key]) => key.includes("tails/") && key.includes(session))?.[1].bytes
      // The lines of a short log stand in its tail, behind the manifest.
      let at = 0
      for (let line = -1; line < seq; line++) at = (bytes?.indexOf(10, at) ?? 0) + 1
      bytes?.set([0xff], at)
    },
    crash(storage, { open }) {
      const store = open.get(storage)
      if (store !== undefined) store.fault = () => new Promise(() => undefined)
    },
    faults: {
      quota: (place) => arm(place, () => fail("quota", true)),
      requestLost: (place) => arm(place, () => fail("network", false)),
      responseLost: (place) =>
        arm(place, (_, proceed) => {
          proceed()
          return fail("network", false)
        }),
    },
  }
}

function fail(failure: "quota" | "network", certain: boolean): never {
  throw new ObjectStoreError(failure, "injected", { certain })
}

/** For the next write of a tail, by whichever storage. */
function arm(place: FakePlace, fault: StoreFault): void {
  for (const store of place.open.values()) {
    store.fault = (call, proceed, signal) => {
      if (call.method !== "put" || !call.key.includes("tails/")) return proceed()
      for (const other of place.open.values()) other.fault = undefined
      return fault(call, proceed, signal)
    }
  }
}
