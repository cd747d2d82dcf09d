import type { Command } from "../command.ts"
import { defineCommand } from "../command.ts"
import { UsageError } from "../errors.ts"

export const rename: Command = defineCommand({
  name: "rename",
  summary: "give a session a title, or take it away",
  args: ["ID", "TITLE?"],
  options: { clear: { type: "boolean", help: "take the title away" } },
  examples: ['rename @last "Refactor the parser"', "rename 01JGN3 --clear"],
  async run({ sessions, session: resolve, args: [ref = "", given], values }) {
    if ((given === undefined) !== (values.clear === true))
      throw new UsageError("rename needs a TITLE, or --clear without one.")
    if (given?.trim() === "")
      throw new UsageError("rename needs a TITLE that is not empty; --clear takes the title away.")
    const id = await resolve(ref)
    const title = given ?? null
    await sessions.rename(id, title)
    return { json: { id, title }, text: () => [title === null ? `${id} has no title now` : `${id} is now "${title}"`] }
  },
})
