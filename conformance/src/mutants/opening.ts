/** Mutants of opening, closing, capabilities and limits. */
import type { Capabilities } from "@sessions/core/storage"
import { createMemoryStorage } from "@sessions/memory"
import { ids, type Mutant, mutant } from "./mutant.ts"
import { perLocation, plain } from "./sound-subjects.ts"

const disposed = perLocation(() => ({ times: 0 }))

export const openingMutants: readonly Mutant[] = [
  mutant(
    "has no sync, against its capabilities",
    ["OPEN-01", "OPEN-06", "CREATE-05"],
    () => ({ sync: undefined }) as object,
  ),
  mutant("has an unknown durability", ["OPEN-02"], ({ capabilities }) => ({
    capabilities: { ...capabilities, durability: "forever" as Capabilities["durability"] },
  })),
  mutant(
    "starts with a blob of an earlier run",
    ["OPEN-03", "BLOBS-04", "BLOBS-06", "BLOBS-09", "BLOBS-13"],
    (_, location) => {
      const bytes = new Uint8Array([4, 2])
      location.blobs.set("7688b6ef52555962d008fff894223582c484517cea7da49ee67800adc7fc8866", { bytes, putAt: 1 })
      return {}
    },
  ),
  mutant("leaves a timer behind", ["OPEN-09"], () => {
    // Longer than the case takes, but short enough that a run of the mutants ends soon.
    setTimeout(() => {}, 3_000)
    return {}
  }),
  mutant(
    "cannot be disposed of twice",
    ids(
      "OPEN 04 05 07, CREATE 04, APPEND 05 13, CAS 06 07 08 10, READ 10 11 12 24, LIST 08, DELETE 01 02 04 05 09 10 11 17, DOCS 03 06, BLOBS 04 08, WATCH 01 05, REPLACE 01 04 05 07 09 10",
    ),
    (real, location) => ({
      async [Symbol.asyncDispose]() {
        if (disposed(location).times++ > 0) throw new TypeError("It is closed.")
        await real[Symbol.asyncDispose]()
      },
    }),
  ),
  {
    subject: {
      ...plain,
      name: "ignores a sync that it does not support",
      open: async (location) => ({ ...(await plain.open(location)), sync: async () => undefined }),
    },
    fails: ["SYNC-02"],
  },
  {
    subject: {
      ...plain,
      name: "enforces no limits",
      open(location) {
        const real = createMemoryStorage({ location })
        return {
          ...real,
          capabilities: { ...real.capabilities, maxLineBytes: 100_000, maxBatchBytes: 400_000 },
        }
      },
    },
    fails: ["LIMITS-01", "LIMITS-02", "LIMITS-04"],
  },
  {
    subject: {
      ...plain,
      name: "takes one byte less than its limits",
      open(location) {
        const real = createMemoryStorage({ location, limits: { maxLineBytes: 499_999, maxBatchBytes: 3_999_999 } })
        return {
          ...real,
          capabilities: { ...real.capabilities, maxLineBytes: 500_000, maxBatchBytes: 4_000_000 },
        }
      },
    },
    fails: ["LIMITS-03", "LIMITS-04"],
  },
]
