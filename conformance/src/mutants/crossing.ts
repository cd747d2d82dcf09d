import type { Mutant } from "./mutant.ts"
import { current } from "./mutant.ts"
import type { Changes } from "./sound-subjects.ts"
import { twin } from "./sound-subjects.ts"

/** Right by themselves, and wrong beside another adapter on the same places. */
export const crossingMutants: readonly Mutant[] = [
  wrong("has a twin that writes lines in its own way", ["CROSS-01"], (real) => ({
    append: (session, lines, o) =>
      real.append(
        session,
        lines.map((line) => line.trimEnd()),
        o,
      ),
  })),
  wrong("has a twin that names logs in its own way", ["CROSS-02", "CROSS-06"], (real) => ({
    async append(session, lines, o) {
      const expect = o.expect === 0 ? 0 : { ...o.expect, log: o.expect.log.replace(/^twin /, "") }
      const { next, log } = await real.append(session, lines, { ...o, expect })
      return { next, log: `twin ${log}` }
    },
  })),
  wrong("has a twin that checks, then writes", ["CROSS-03"], (real) => ({
    async append(session, lines, o) {
      const head = await current(real, session)
      const same =
        head === 0 || o.expect === 0 ? head === o.expect : head.next === o.expect.next && head.log === o.expect.log
      await new Promise((resolve) => setTimeout(resolve, 1))
      return real.append(session, lines, same ? { ...o, expect: await current(real, session) } : o)
    },
  })),
  wrong("has a twin whose deletes only it sees", ["CROSS-04"], (real) => {
    const deleted = new Set<string>()
    return {
      async delete(session) {
        deleted.add(session)
        return { bytes: 0, parts: 0 }
      },
      head: async (session, o) => (deleted.has(session) ? undefined : real.head(session, o)),
    }
  }),
  wrong("has a twin with versions of its own", ["CROSS-05"], (real) => ({
    docs: {
      ...real.docs,
      async get(key, o) {
        const doc = await real.docs.get(key, o)
        return doc && { text: doc.text, version: `twin ${doc.version}` }
      },
      put: async (key, text, o) =>
        `twin ${await real.docs.put(key, text, { ...o, expect: o.expect?.replace(/^twin /, "") ?? null })}`,
    },
  })),
  wrong("has a twin that replaces by appending", ["CROSS-06"], (real) => ({
    async replace(session, chunks, o) {
      let head = o.expect
      for await (const { lines } of chunks) head = await real.append(session, lines, { expect: head })
      return head
    },
  })),
]

function wrong(name: string, fails: readonly string[], changes: Changes): Mutant {
  return { subject: twin(name, changes), fails }
}
