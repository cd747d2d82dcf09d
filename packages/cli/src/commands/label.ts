import { type Command, defineCommand } from "../command.ts"
import { UsageError } from "../errors.ts"

export const label: Command = defineCommand({
  name: "label",
  summary: "set or clear the label of an entry",
  args: ["ID", "ENTRY", "LABEL?"],
  options: { clear: { type: "boolean", help: "clear the label" } },
  examples: [
    "label @last 01JGN4A8X0V1S2E9QH5T6B7C3D before-refactoring",
    "label @last 01JGN4A8X0V1S2E9QH5T6B7C3D --clear",
  ],
  async run({ sessions, resolveSession, args: [ref = "", entryId = "", given], values }) {
    if ((given === undefined) !== (values.clear === true))
      throw new UsageError("label needs either a LABEL or --clear.")
    const id = await resolveSession(ref)
    const text = given ?? null
    const session = await sessions.open(id)
    try {
      await session.label(entryId, text)
    } finally {
      await session.close()
    }
    return {
      json: { id, entryId, label: text },
      text: () => [text === null ? `cleared the label of ${entryId}` : `labelled ${entryId} "${text}"`],
    }
  },
})
