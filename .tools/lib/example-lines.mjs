// The commands that the READMEs of the examples show, with what the last one of a block prints.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { isShown } from "./shown.mjs"
import { run } from "./run.mjs"
import { root } from "./workspace.mjs"

/** `{ name, commands, shown }` of each example whose README begins with two lines, the installation and a command that ends, and an output. */
export function shownExamples() {
  return readdirSync(join(root, "examples")).flatMap((name) => {
    const readme = join(root, "examples", name, "README.md")
    const text = existsSync(readme) ? readFileSync(readme, "utf8") : ""
    const [, block = "", output] = /^```sh\n([^]*?)^```$(?:\n\n```text\n([^]*?)^```$)?/m.exec(text) ?? []
    const [first, ...commands] = block.trimEnd().split("\n")
    if (!first.startsWith("npx pnpm@")) return []
    const ending = commands.filter((line) => !line.includes("http://")).map((line) => line.replace(/ +#.*/, ""))
    return [{ name, commands: ending, shown: output?.trimEnd().split("\n") }]
  })
}

/** Runs the commands in a folder as a shell does; what is wrong, or undefined. npm says first which script it runs. */
export async function problemOf({ name, commands, shown }, cwd, env = {}) {
  for (const command of commands) {
    const { code, output } = await run(command, [], { cwd, env: { NODE_NO_WARNINGS: "1", ...env }, shell: true })
    const printed = output
      .replace(/^(?:\n?> .*\n)*\n/, "")
      .trimEnd()
      .split("\n")
    if (code !== 0) return `${name}: ${command} ended with ${code}:\n${output}`
    if (command === commands.at(-1) && shown !== undefined && !isShown(printed, shown))
      return `${name}: ${command} printed\n${printed.join("\n")}\nwhere its README shows\n${shown.join("\n")}`
  }
  return undefined
}
