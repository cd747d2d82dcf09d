import type { Subject } from "@sessions/conformance"
import type { SessionStorage } from "@sessions/core/storage"
import { linesOfSegment, type Manifest, parseManifest, type Segment } from "../src/format/manifest.ts"
import { createObjectStorage, type EtagForm, type ObjectStorageOptions, ObjectStoreError } from "../src/index.ts"
import { FakeBucket } from "./fake-bucket.ts"
import { createFakeStore, type FakeStore, type StoreFault } from "./fake-store.ts"

export interface FakeLocation {
  readonly bucket: FakeBucket
  readonly open: Map<SessionStorage, FakeStore>
}

type Options = Partial<Omit<ObjectStorageOptions, "store" | "name">>

/** Small, so that the cases that exceed them are fast. */
const LIMITS = { maxLineBytes: 500_000, maxBatchBytes: 4_000_000 }

/** The adapter over a bucket in memory. */
export function createFakeSubject(
  name: string,
  options: Options = {},
  bucket: { readonly etags?: EtagForm } = {},
): Subject<FakeLocation> {
  return {
    name,
    makeLocation: () => ({ bucket: new FakeBucket(bucket), open: new Map() }),
    open(location) {
      const store = createFakeStore(location.bucket)
      const storage = createObjectStorage({ ...LIMITS, ...options, store, name })
      location.open.set(storage, store)
      return storage
    },
    corruptLine({ bucket }, session, seq) {
      const tail = [...bucket.objects].find(([key]) => key.includes("tails/") && key.includes(session))?.[1].bytes
      const { segments } = parseManifest(new TextDecoder().decode(tail?.subarray(0, tail.indexOf(10)))) as Manifest
      const segment = segments.findLast(({ from }) => from <= seq)
      const isSealed = segment !== undefined && seq < segment.from + linesOfSegment(segment)
      const bytes = isSealed ? [...bucket.objects].find(([key]) => key.endsWith(segment.name))?.[1].bytes : tail
      // The lines of a tail are behind its manifest.
      let line = isSealed ? segment.from : lastOf(segments) - 1
      let at = 0
      for (; line < seq; line++) at = (bytes?.indexOf(10, at) ?? 0) + 1
      bytes?.set([0xff], at)
    },
    corruptHead({ bucket }, session) {
      const [key] = [...bucket.objects.keys()].filter((name) => name.includes("tails/") && name.endsWith(`/${session}`))
      bucket.put(key ?? "", new TextEncoder().encode('{"format":"damaged"\n'))
    },
    contains: ({ bucket }, text) => [...bucket.objects.values()].some(({ bytes }) => Buffer.from(bytes).includes(text)),
    crash(storage, { open }) {
      const store = open.get(storage)
      if (store !== undefined) store.fault = () => new Promise(() => undefined)
    },
    faults: {
      quota: (location) => arm(location, () => fail("quota", true)),
      requestLost: (location) => arm(location, () => fail("network", false)),
      responseLost: (place) =>
        arm(place, (_, proceed) => {
          proceed()
          return fail("network", false)
        }),
      removal: ({ open }) => {
        for (const store of open.values()) {
          store.fault = ({ method }, proceed) => (method === "delete" ? fail("refused", true) : proceed())
        }
        return () => {
          for (const store of open.values()) store.fault = undefined
        }
      },
    },
  }
}

/** Seq after the last line of the segments. */
function lastOf(segments: readonly Segment[]): number {
  const last = segments.at(-1)
  return last === undefined ? 0 : last.from + linesOfSegment(last)
}

function fail(failure: "quota" | "network" | "refused", certain: boolean): never {
  throw new ObjectStoreError(failure, "injected", { certain })
}

/** Applies the fault to the next PUT of a tail by any of the storages. */
function arm(location: FakeLocation, fault: StoreFault): void {
  for (const store of location.open.values()) {
    store.fault = (call, proceed, signal) => {
      if (call.method !== "put" || !call.key.includes("tails/")) return proceed()
      for (const other of location.open.values()) other.fault = undefined
      return fault(call, proceed, signal)
    }
  }
}
