import type { Command } from "../command.ts"
import { defineCommand } from "../command.ts"
import { UsageError } from "../errors.ts"

export const label: Command = defineCommand({
  name: "label",
  summary: "name an entry of a session, or take its name away",
  args: ["ID", "ENTRY", "LABEL?"],
  options: { clear: { type: "boolean", help: "take the name away" } },
  examples: [
    "label @last 01JGN4A8X0V1S2E9QH5T6B7C3D before-refactoring",
    "label @last 01JGN4A8X0V1S2E9QH5T6B7C3D --clear",
  ],
  async run({ sessions, session: resolve, args: [ref = "", entryId = "", given], values }) {
    if ((given === undefined) !== (values.clear === true))
      throw new UsageError("label needs a LABEL, or --clear without one.")
    const id = await resolve(ref)
    const text = given ?? null
    const session = await sessions.open(id)
    try {
      await session.label(entryId, text)
    } finally {
      await session.close()
    }
    return {
      json: { id, entryId, label: text },
      text: () => [text === null ? `${entryId} has no label now` : `${entryId} is now labelled "${text}"`],
    }
  },
})
