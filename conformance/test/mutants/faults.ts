import type { Subject } from "@sessions/conformance"
import type { Head, SessionStorage } from "@sessions/core/storage"
import { StorageError } from "@sessions/core/storage"
import type { MemoryLocation } from "@sessions/memory"
import { createMemoryStorage } from "@sessions/memory"
import { crashing, faulty, looksForItsOwn, plain, refusesWhole, tearing } from "../variants.ts"
import type { Mutant } from "./mutant.ts"
import { current, mutant } from "./mutant.ts"

/** Wrong when something ends, breaks or is not there. */
export const faultsMutants: readonly Mutant[] = [
  mutant("works on after its dispose", ["OPEN-06"], () => ({ async [Symbol.asyncDispose]() {} })),
  mutant("ignores signals", ["APPEND-14", "READ-14", "WATCH-04"], (real) => ({
    append: (session, lines, { expect, info }) =>
      real.append(session, lines, { expect, ...(info !== undefined && { info }) }),
    read: (session, range) => real.read(session, range),
    ...(real.watch !== undefined && { watch: (session: string): AsyncIterable<Head> => watching(real, session) }),
  })),
  {
    subject: {
      ...plain,
      name: "replaces though it says it cannot",
      open: (location) => overridden(plain, location, ["replace", "watch"]),
    },
    fails: ["REPLACE-12", "WATCH-08"],
  },
  {
    subject: tearing("glues the next append to a torn line", (torn, [first, ...rest]) => [`${torn}${first}`, ...rest]),
    fails: ["TAILS-02", "TAILS-03"],
  },
  {
    subject: tearing("makes a line of a torn one", (torn, lines) => [torn, ...lines]),
    fails: ["TAILS-02", "TAILS-03"],
  },
  { subject: crashing("acknowledges what it has in memory", true), fails: ["RECOVER-01"] },
  {
    subject: faulty(
      "reports a conflict for its own retry",
      async () => {
        throw new StorageError("conflict", "Another writer was there first.")
      },
      refusesWhole,
    ),
    fails: ["RECOVER-04"],
  },
  {
    subject: faulty(
      "writes again what it did not hear of",
      async (real, session, lines) => real.append(session, lines, { expect: await current(real, session) }),
      refusesWhole,
    ),
    fails: ["RECOVER-04"],
  },
  {
    subject: faulty("leaves half a batch on a full disk", looksForItsOwn, async (real, session, lines, o) => {
      await real.append(session, lines.slice(0, 7), o)
      throw new StorageError("quota", "There is no room.")
    }),
    fails: ["RECOVER-03"],
  },
]

function watching(real: SessionStorage, session: string): AsyncIterable<Head> {
  if (real.watch === undefined) throw new TypeError("There is no watch.")
  return real.watch(session)
}

/** A storage of the subject with memory's own methods in the place of some. */
async function overridden(
  subject: Subject<MemoryLocation>,
  location: MemoryLocation,
  methods: readonly (keyof SessionStorage)[],
): Promise<SessionStorage> {
  const real = createMemoryStorage({ location })
  return { ...(await subject.open(location)), ...Object.fromEntries(methods.map((name) => [name, real[name]])) }
}
