/** Mutants of `head` and `list`. */
import type { ListedSession, ListRow, UnreadableSession } from "@sessions/core/storage"
import { collect, corruptHeads, perLocation, plain } from "./sound-subjects.ts"
import { ids, type Mutant, mutant } from "./mutant.ts"

const cached = perLocation(() => new Map<string, ListRow>())

export const listingMutants: readonly Mutant[] = [
  mutant(
    "returns an empty head for a missing session",
    ids(
      "OPEN 03 08, CREATE 06 07, APPEND 07 08 14, CAS 04, HEAD 01, READ 13, DELETE 01 02 04 09 11 16 17, REPLACE 03 08",
    ),
    (real) => ({
      head: async (session, o) => (await real.head(session, o)) ?? { next: 0, log: "", bytes: 0, updatedAt: 0 },
    }),
  ),
  mutant("reports times in seconds", ["HEAD-04", "LIST-01", "LIST-03"], (real) => ({
    async head(session, o) {
      const head = await real.head(session, o)
      return head && { ...head, updatedAt: Math.floor(head.updatedAt / 1_000) }
    },
  })),
  mutant("returns empty info for a session without info", ["HEAD-07", "LIST-01", "DELETE-06"], (real) => ({
    async head(session, o) {
      const head = await real.head(session, o)
      return head && { ...head, info: head.info ?? { text: "", next: head.next } }
    },
  })),
  mutant("lists rows without their size", ["LIST-01"], (real) => ({
    async *list(o) {
      for await (const { bytes: _, ...row } of real.list(o)) yield row as ListedSession
    },
  })),
  mutant(
    "lists sessions from a stale cache",
    ids("CREATE 07, LIST 03 05 06 07 10, DELETE 01 02 04 09 10 11 16, REPLACE 08"),
    (real, location) => ({
      async *list(o) {
        const seen = cached(location)
        for (const row of await collect(real.list())) seen.set(row.id, row)
        yield* [...seen.values()].slice(0, o?.limit)
      },
      async delete(session, o) {
        for (const row of await collect(real.list())) cached(location).set(row.id, row)
        return real.delete(session, o)
      },
    }),
  ),
  mutant("lists a session that only has documents", ["LIST-09"], (real) => ({
    async *list(o) {
      const rows = await collect(real.list(o))
      yield* rows
      for (const key of await collect(real.docs.list("sessions/"))) {
        const id = key.split("/")[1] ?? ""
        if (rows.every((row) => row.id !== id)) yield { id, next: 1, log: "", bytes: 0, updatedAt: 0 }
      }
    },
  })),
  {
    subject: {
      ...plain,
      name: "lists ids in the order of creation",
      async open(location) {
        const storage = await plain.open(location)
        return {
          ...storage,
          async *list(o = {}) {
            const rows = await collect(storage.list(o))
            const made = [...location.logs.keys()]
            yield* rows.toSorted((a, b) => made.indexOf(a.id) - made.indexOf(b.id))
          },
        }
      },
    },
    fails: ["LIST-02", "LIST-04"],
  },
  mutant("ignores signals when it reads", ["HEAD-08", "LIST-10", "DOCS-11", "BLOBS-13"], (real) => ({
    head: (session) => real.head(session),
    list: ({ limit, after } = {}) =>
      real.list({ ...(limit !== undefined && { limit }), ...(after !== undefined && { after }) }),
    docs: { ...real.docs, get: (key) => real.docs.get(key), list: (prefix) => real.docs.list(prefix) },
    blobs: { ...real.blobs, get: (hash) => real.blobs.get(hash), list: () => real.blobs.list() },
  })),
  unreadable("ends a list with the error of a session that cannot be read", ["LIST-11"], ({ error }) => {
    throw error
  }),
  unreadable("leaves a session that cannot be read out of the list", ["LIST-11"], () => []),
  unreadable("lists a session that cannot be read with an empty head", ["LIST-11"], ({ id }) => [
    { id, next: 0, log: "", bytes: 0, updatedAt: 0 },
  ]),
]

function unreadable(
  name: string,
  fails: readonly string[],
  toRows: (row: UnreadableSession) => readonly ListRow[],
): Mutant {
  return { subject: corruptHeads(name, toRows), fails }
}
