import { type Command, defineCommand } from "../command.ts"
import { UsageError } from "../errors.ts"

export const rename: Command = defineCommand({
  name: "rename",
  summary: "set or clear the title of a session",
  args: ["ID", "TITLE?"],
  options: { clear: { type: "boolean", help: "clear the title" } },
  examples: ['rename @last "Refactor the parser"', "rename 01JGN3 --clear"],
  async run({ sessions, resolveSession, args: [ref = "", given], values }) {
    if ((given === undefined) !== (values.clear === true))
      throw new UsageError("rename needs either a TITLE or --clear.")
    if (given?.trim() === "") throw new UsageError("TITLE must not be empty; use --clear to clear the title.")
    const id = await resolveSession(ref)
    const title = given ?? null
    await sessions.rename(id, title)
    return {
      json: { id, title },
      text: () => [title === null ? `cleared the title of ${id}` : `renamed ${id} to "${title}"`],
    }
  },
})
