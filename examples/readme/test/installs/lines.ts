/** The commands of all pages that install packages, each with the programs that its pages show below it. */
import { type Block, blocksOf, PAGES, textOf } from "../../blocks.ts"

export interface InstallLine {
  readonly command: string
  /** `docs/s3.md:8`, of each page that has it. */
  readonly places: readonly string[]
  /** What it installs, without versions: none of `npm create` and `npx`. */
  readonly packages: readonly string[]
  /** The first program below each place, before the next such line; if the page has several, in the same section. */
  readonly blocks: readonly Block[]
}

const STARTS = /^(?:npm install \S|npm create |npx @sessions\/|bun add \S|deno add \S)/
/** A command within a text. `npx` in a text has no folder of its own with sessions. */
const IN_TEXT = /`((?:npm install|bun add|deno add)\s[^`]+)`/g
const VERSION = /(?<=.)@[^@/]*$/

/** Each distinct command once. */
export function installLines(pages: readonly string[] = PAGES): readonly InstallLine[] {
  const found = new Map<string, { places: string[]; blocks: Block[] }>()
  for (const { command, place, block } of pages.flatMap(linesOf)) {
    const one = found.get(command) ?? { places: [], blocks: [] }
    found.set(command, one)
    one.places.push(place)
    if (block !== undefined) one.blocks.push(block)
  }
  return [...found].map(([command, rest]) => ({ command, packages: packagesOf(command), ...rest }))
}

interface Found {
  readonly command: string
  readonly place: string
  readonly block?: Block
}

function linesOf(page: string): readonly Found[] {
  const text = textOf(page)
  const lineAt = (index: number): number => text.slice(0, index).split("\n").length
  const fenced = [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].flatMap(({ 1: body = "", index }) => {
    const commands = commandsOf(body)
    return commands.length === 0 ? [] : [{ commands, index }]
  })
  const blocks = blocksOf(page).map((block) => ({ block, line: Number(block.place.split(":")[1]) }))
  const shown = fenced.flatMap(({ commands, index }, at) => {
    const section = fenced.length === 1 ? -1 : text.slice(index).search(/^#{1,6} /m)
    const end = section === -1 ? text.length : index + section
    const most = lineAt(Math.min(end, fenced[at + 1]?.index ?? end))
    const block = blocks.find(({ line }) => line > lineAt(index) && line < most)?.block
    return commands.map((command) => ({ command, place: `${page}:${lineAt(index)}`, ...(block && { block }) }))
  })
  const inText = [...text.replaceAll(/^```[^]*?^```$/gm, (code) => code.replaceAll(/[^\n]/g, " ")).matchAll(IN_TEXT)]
  return [
    ...shown,
    ...inText.map(({ 1: command = "", index }) => ({
      command: command.replaceAll(/\s+/g, " "),
      place: `${page}:${lineAt(index)}`,
    })),
  ]
}

/** Of a block of commands: its lines that install, as one command where one prepares the next. */
function commandsOf(body: string): readonly string[] {
  const lines = body.trimEnd().split("\n")
  const bare = lines.map((line) => line.replace(/\s+#.*/, ""))
  if (bare[0]?.startsWith("npm create ")) return [bare.join(" && ")]
  if (bare[0]?.startsWith("npx @sessions/")) return [bare.join("\n")]
  return bare.flatMap((line, at) => (STARTS.test(line) ? [line, ...ofOthers(line, lines[at] ?? "")] : []))
}

/** `# Bun: bun add …; Deno: deno add npm:…` behind a line: `…` stands for what npm installs. */
function ofOthers(line: string, whole: string): readonly string[] {
  const comment = /\s#(.*)/.exec(whole)?.[1] ?? ""
  const names = packagesOf(line).join(" ")
  return [...comment.matchAll(/(?:bun|deno) add [^;]+/g)].map(([command]) => command.trim().replace("…", names))
}

function packagesOf(command: string): readonly string[] {
  return command
    .split(/&&|\n/)
    .flatMap((part) => /^\s*(?:npm install|bun add|deno add) (.*)$/.exec(part)?.[1]?.trim().split(/\s+/) ?? [])
    .filter((word) => !word.startsWith("-"))
    .map((word) => word.replace(/^npm:/, "").replace(VERSION, ""))
}
