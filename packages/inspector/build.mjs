// Bundles the script and the style of the page into src/page/assets.ts, with their hashes for the Content-Security-Policy. An
// installation makes the file (`prepare`), so that everything runs from the sources without a build.
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"

const folder = dirname(fileURLToPath(import.meta.url))
export const file = join(folder, "src", "page", "assets.ts")

/** The content of the file. */
export async function assets() {
  const { code, inputs } = await bundle("main.tsx", {
    format: "iife",
    jsx: "automatic",
    jsxImportSource: "preact",
    conditions: ["@sessions/source"],
    define: { "process.env.NODE_ENV": '"production"' },
  })
  const style = await bundle("style.css", {})
  // In a string or a pattern both mean the same, and only the second never begins a comment of HTML.
  const script = `${licenses(inputs)}\n${code.replaceAll("<!--", "\\x3c!--")}`
  for (const text of [script, style.code])
    if (/<\/(?:script|style)|<!--/i.test(text)) throw new Error("The bundle would end its element.")
  return [
    "/** The script and the style of the page, with their hashes. Made by build.mjs from view/; do not edit. */",
    constant("SCRIPT", script),
    constant("SCRIPT_HASH", hash(script)),
    constant("STYLE", style.code),
    constant("STYLE_HASH", hash(style.code)),
    "",
  ].join("\n")
}

async function bundle(entry, options) {
  const { outputFiles, metafile } = await build({
    ...options,
    entryPoints: [join(folder, "view", entry)],
    absWorkingDir: folder,
    bundle: true,
    minify: true,
    charset: "ascii",
    target: "es2022",
    legalComments: "none",
    metafile: true,
    write: false,
    logLevel: "silent",
    // The browsers decide with light-dark().
    ...(entry.endsWith(".css") ? { target: "esnext" } : {}),
  })
  return { code: outputFiles[0].text, inputs: Object.keys(metafile.inputs) }
}

/** The licenses of the bundled packages, which a copy of their code must have. */
function licenses(inputs) {
  const folders = new Set()
  for (const input of inputs) {
    const [, found] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input) ?? []
    if (found !== undefined) folders.add(join(folder, found))
  }
  const texts = [...folders].map((path) => {
    const { name, version } = JSON.parse(readFileSync(join(path, "package.json"), "utf8"))
    const license = readdirSync(path).find((one) => /^licen[cs]e/i.test(one))
    if (license === undefined || !existsSync(join(path, license))) throw new Error(`${name} has no license file.`)
    return `${name} ${version}\n${readFileSync(join(path, license), "utf8").trim()}`
  })
  return `/*\n${texts.sort().join("\n\n").replaceAll("*/", "* /")}\n*/`
}

function constant(name, text) {
  return `export const ${name}: string =\n  ${JSON.stringify(text)}`
}

function hash(text) {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, await assets())
}
