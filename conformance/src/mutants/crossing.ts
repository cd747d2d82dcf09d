/** Mutants that are correct on their own, but incompatible with another adapter on the same locations. */
import { current, type Mutant } from "./mutant.ts"
import { type Changes, secondAdapter } from "./sound-subjects.ts"

export const crossingMutants: readonly Mutant[] = [
  wrong("shares locations with an adapter that trims lines", ["CROSS-01"], (real) => ({
    append: (session, lines, o) =>
      real.append(
        session,
        lines.map((line) => line.trimEnd()),
        o,
      ),
  })),
  wrong("shares locations with an adapter that changes the log's identity", ["CROSS-02", "CROSS-06"], (real) => ({
    async append(session, lines, o) {
      const expect = o.expect === 0 ? 0 : { ...o.expect, log: o.expect.log.replace(/^other /, "") }
      const { next, log } = await real.append(session, lines, { ...o, expect })
      return { next, log: `other ${log}` }
    },
  })),
  wrong("shares locations with an adapter that checks, then writes", ["CROSS-03"], (real) => ({
    async append(session, lines, o) {
      const head = await current(real, session)
      const same =
        head === 0 || o.expect === 0 ? head === o.expect : head.next === o.expect.next && head.log === o.expect.log
      await new Promise((resolve) => setTimeout(resolve, 1))
      return real.append(session, lines, same ? { ...o, expect: await current(real, session) } : o)
    },
  })),
  wrong("shares locations with an adapter that hides deleted sessions from itself only", ["CROSS-04"], (real) => {
    const deleted = new Set<string>()
    return {
      async delete(session) {
        deleted.add(session)
        return { bytes: 0, parts: 0, purged: true }
      },
      head: async (session, o) => (deleted.has(session) ? undefined : real.head(session, o)),
    }
  }),
  wrong("shares locations with an adapter that changes document versions", ["CROSS-05"], (real) => ({
    docs: {
      ...real.docs,
      async get(key, o) {
        const doc = await real.docs.get(key, o)
        return doc && { text: doc.text, version: `other ${doc.version}` }
      },
      put: async (key, text, o) =>
        `other ${await real.docs.put(key, text, { ...o, expect: o.expect?.replace(/^other /, "") ?? null })}`,
    },
  })),
  wrong("shares locations with an adapter that replaces by appending", ["CROSS-06"], (real) => ({
    async replace(session, chunks, o) {
      let head = o.expect
      for await (const { lines } of chunks) head = await real.append(session, lines, { expect: head })
      return head
    },
  })),
]

function wrong(name: string, fails: readonly string[], changes: Changes): Mutant {
  return { subject: secondAdapter(name, changes), fails }
}
