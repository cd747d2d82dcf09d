/** A machine of a new user: an empty home that names the registries, and of the programs in PATH those of the system and the runtimes. */
import { execFile, execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"

/** Variables of npm, of the test runner and of other homes. */
const OF_THIS_RUN = /^(?:npm_.*|XDG_.*|NODE_(?:OPTIONS|COMPILE_CACHE|TEST_CONTEXT)|DENO_DIR|BUN_INSTALL.*)$/i
const MOST_MS = 5 * 60_000
const workspace = fileURLToPath(new URL("../../../../", import.meta.url))
const own = (process.env["PATH"] ?? "").split(delimiter)

export interface Result {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface Machine {
  readonly has: (program: string) => boolean
  /** A new empty folder. */
  readonly folder: () => string
  /** Runs a line as a shell does; with a folder for global packages in PATH. */
  readonly sh: (line: string, cwd: string, variables?: Readonly<Record<string, string>>) => Promise<Result>
}

/** In the folder `root`. `registry` has the packages of `@sessions`; others come from that of this machine's npm, once for all lines. */
export function newMachine(root: string, registry: string): Machine {
  const [home, bin] = [join(root, "home"), join(root, "bin")]
  for (const path of [home, bin]) mkdirSync(path)
  const others = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim()
  const settings = [`registry=${others}`, `@sessions:registry=${registry}`, "audit=false", "fund=false"]
  const npmrc = [
    ...settings,
    "update-notifier=false",
    "fetch-timeout=60000",
    `cache=${join(root, "cache")}`,
    `prefix=${join(root, "global")}`,
  ]
  writeFileSync(join(home, ".npmrc"), `${npmrc.join("\n")}\n`)
  const runtimes = { node: process.execPath, bun: programAt("bun"), deno: programAt("deno") }
  for (const [name, path] of Object.entries(runtimes)) {
    if (path === undefined) continue
    writeFileSync(join(bin, name), `#!/bin/sh\nexec "${path}" "$@"\n`)
    chmodSync(join(bin, name), 0o755)
  }
  // The programs of the workspace are not those of a new user.
  const path = [bin, join(root, "global", "bin"), ...own.filter((folder) => !folder.startsWith(workspace))]
  const env = {
    // Certificates and proxies are those of the machine.
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !OF_THIS_RUN.test(name))),
    HOME: home,
    PATH: path.join(delimiter),
    NO_COLOR: "1",
    NODE_NO_WARNINGS: "1",
  }
  return {
    has: (program) => existsSync(join(bin, program)),
    folder: () => mkdtempSync(join(root, "folder-")),
    sh: (line, cwd, variables) => shell(line, cwd, { ...env, ...variables }),
  }
}

function programAt(name: string): string | undefined {
  return own.map((folder) => join(folder, name)).find((path) => existsSync(path))
}

/** A line that hangs is killed; what it has started ends with its own limits. */
function shell(line: string, cwd: string, env: NodeJS.ProcessEnv): Promise<Result> {
  return new Promise((resolve) => {
    const options = { cwd, env, timeout: MOST_MS, killSignal: "SIGKILL", maxBuffer: 2 ** 26 } as const
    execFile("sh", ["-c", line], options, (error, stdout, stderr) => {
      const killed = error?.killed === true ? `\nkilled after ${MOST_MS / 1000} s` : ""
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr: stderr + killed })
    }).stdin?.end()
  })
}
