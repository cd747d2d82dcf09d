/** A session whose appends fail if another writer has continued the conversation: a runner that lost its lease stops at its next append. */
import type { Session } from "@sessions/core"

type Appending = "append" | "branch" | "settle" | "resetLeaf" | "label" | "tombstone" | "edit" | "title" | "metadata"

/** Where the options of each method that appends are among its arguments. */
const OPTIONS_AT: Readonly<Record<Appending, number>> = {
  append: 1,
  branch: 1,
  settle: 1,
  resetLeaf: 0,
  label: 2,
  tombstone: 1,
  edit: 2,
  title: 1,
  metadata: 2,
}

/** The same session with `onConflict: "fail"` as the default of each append. */
export function failOnConflict(session: Session): Session {
  return new Proxy(session, {
    get(target, name): unknown {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== "function") return value
      if (!isAppending(name)) return value.bind(target)
      return (...given: readonly unknown[]): unknown => {
        const at = OPTIONS_AT[name]
        const args = Array.from({ length: Math.max(given.length, at + 1) }, (_, index) => given[index])
        args[at] = { onConflict: "fail", ...(args[at] as object | undefined) }
        return value.apply(target, args)
      }
    },
  })
}

function isAppending(name: string | symbol): name is Appending {
  return Object.hasOwn(OPTIONS_AT, name)
}
