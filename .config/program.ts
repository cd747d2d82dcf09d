/**
 * How tests start programs of this repository: in a process of the current runtime, with the built packages, as programs of users do. They are
 * built when this file is loaded, unless they are what the sources say.
 */
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"

/** The options of the current runtime before the path of a program. */
export const FLAGS: readonly string[] = flagsOf("Deno" in globalThis ? "deno" : "node")

export function flagsOf(runtime: "node" | "bun" | "deno"): readonly string[] {
  return runtime === "deno" ? ["run", "-A", "--no-lock", "--cached-only"] : []
}

execFileSync("node", [fileURLToPath(new URL("../.tools/build.mjs", import.meta.url)), "--if-stale"], { stdio: ["ignore", "ignore", "inherit"] })
