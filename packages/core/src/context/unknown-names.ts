/** Finds roles and block types of a context that no provider knows, as an append would refuse them. Stored messages may have any. */
import type { Diagnostic } from "../format/diagnostics.ts"
import { type Extensions, isKnownName, nameHint } from "../format/names.ts"
import type { ContextMessage } from "./types.ts"

/** One diagnostic for each unknown name. Messages of an unknown role without content are reported as `left_out`, not here. */
export function unknownNames(
  messages: readonly ContextMessage[],
  extensions: Extensions | undefined,
): readonly Diagnostic[] {
  const found = new Map<string, { kind: "roles" | "blocks"; name: string; first: string; count: number }>()
  for (const { kind: from, entryId, message } of messages) {
    const { role, content } = message
    if (content === undefined) continue
    for (const type of new Set(content.map(({ type }) => type))) {
      if (!isKnownName("blocks", type, extensions)) count("blocks", type, entryId)
    }
    if (from === "message" && !isKnownName("roles", role, extensions)) count("roles", role, entryId)
  }
  return [...found.values()].map(({ kind, name, first, count }) => {
    const messages = `${count} ${count === 1 ? "message" : "messages"} (the first: entry ${first})`
    const what =
      kind === "roles"
        ? `The role ${JSON.stringify(name)} of ${messages} is unknown: the model gets the content as a user message.`
        : `The block type ${JSON.stringify(name)} in ${messages} is unknown: the model gets such blocks as they are.`
    return { code: "unknown_name", entryId: first, message: `${what} ${nameHint(kind, name)}` }
  })

  function count(kind: "roles" | "blocks", name: string, entryId: string): void {
    const key = `${kind} ${name}`
    const known = found.get(key)
    if (known === undefined) found.set(key, { kind, name, first: entryId, count: 1 })
    else known.count++
  }
}
