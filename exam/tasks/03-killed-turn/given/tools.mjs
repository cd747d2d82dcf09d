/** The tool of the agent. With TOOL_HANGS it never ends, and writes a file with that name. */
import { writeFileSync } from "node:fs"

export async function lookup({ key }) {
  if (process.env.TOOL_HANGS) {
    writeFileSync(process.env.TOOL_HANGS, "")
    await new Promise((resolve) => setTimeout(resolve, 600_000))
  }
  return `found ${key}`
}
