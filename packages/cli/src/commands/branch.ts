import { type Command, defineCommand } from "../command.ts"
import { sessionBranches } from "@sessions/core/transfer"

export const branch: Command = defineCommand({
  name: "branch",
  summary: "continue a session from another entry, or settle a branch",
  args: ["ID", "ENTRY"],
  options: { settle: { type: "boolean", help: "settle the branch that ends in ENTRY, and stay on the current one" } },
  notes: [
    "The branch that is left is settled, so it is not reported any more; it stays in the log. If ENTRY is the end",
    "of a branch, as `sessions branches` shows it, all open branches are settled.",
  ],
  examples: ["branch @last 01JGN4A8X0V1S2E9QH5T6B7C3D", "branch @last 01JGN4A8X0V1S2E9QH5T6B7C3D --settle"],
  async run({ sessions, resolveSession, args: [ref = "", entryId = ""], values, callOptions }) {
    const id = await resolveSession(ref)
    const session = await sessions.open(id, callOptions)
    try {
      // A session that is opened may not know all open branches yet; a choice settles those that it knows.
      await sessionBranches(session, callOptions)
      const isSettling = values.settle === true
      const { ids } = isSettling ? await session.settle([entryId]) : await session.branch(entryId)
      const written = await session.entry(ids[0] as string)
      const settled = (written as { readonly settles?: readonly string[] } | undefined)?.settles ?? []
      const also = settled.length === 0 ? [] : [`settled ${settled.join(", ")}`]
      return {
        json: { id, leafId: session.leafId, settled },
        text: () => (isSettling ? also : [`${id} continues from ${entryId}`, ...also]),
      }
    } finally {
      await session.close()
    }
  },
})
