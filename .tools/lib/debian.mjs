import { existsSync } from "node:fs"
import { delimiter, isAbsolute, join } from "node:path"
import { run } from "./run.mjs"

/**
 * What tests use of the system, by the step that uses it: the packages of Debian that bring it, and the programs that show it is
 * here. A program is a name in PATH or an absolute path.
 */
export const system = {
  chromium: { packages: ["chromium"], programs: ["chromium"] },
  firefox: { packages: ["firefox-esr"], programs: ["firefox-esr"] },
  webkit: {
    packages: ["webkit2gtk-driver", "libwebkit2gtk-4.1-0", "xvfb"],
    programs: ["WebKitWebDriver", "Xvfb"],
  },
  s3: { packages: ["radosgw", "ceph-mon", "ceph-osd"], programs: ["radosgw", "ceph-mon", "ceph-osd"] },
}

/**
 * Why this is not here, after what could be done about it: as root on Debian the missing packages of all `wanted` are installed,
 * once in a run, and said so in one line. Nothing where it is here.
 */
export async function absentFromSystem({ packages, programs }, wanted = Object.values(system)) {
  if (programs.every(isHere)) return undefined
  if (!isDebian() || process.getuid?.() !== 0) {
    return `needs ${missing(programs)} (Debian: apt-get install ${packages.join(" ")}; run as root, the tests do that themselves)`
  }
  const failure = await installOnce(wanted)
  if (failure !== undefined) return `needs ${missing(programs)}; ${failure}`
  return programs.every(isHere) ? undefined : `needs ${missing(programs)}, which ${packages.join(" ")} did not bring`
}

let installing

/** All at once: each call of apt-get takes seconds to look at its lists. */
function installOnce(wanted) {
  installing ??= install(wanted.filter(({ programs }) => !programs.every(isHere)).flatMap(({ packages }) => packages))
  return installing
}

async function install(packages) {
  console.error(`Installing ${packages.join(", ")} from Debian (the first time takes a minute or two) …`)
  const env = { DEBIAN_FRONTEND: "noninteractive" }
  // Another apt may be at work on a machine that has just started.
  const patient = ["-q", "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=3"]
  const steps = [["update"], ["install", "-y", "--no-install-recommends", ...packages]]
  for (const [what, ...args] of steps) {
    const { code, output } = await run("apt-get", [what, ...patient, ...args], { env, timeout: 10 * 60_000 })
    if (code !== 0) return `apt-get ${what} failed: ${output.trim().split("\n").slice(-3).join(" ")}`
  }
  return undefined
}

function missing(programs) {
  return programs.filter((program) => !isHere(program)).join(", ")
}

function isHere(program) {
  if (isAbsolute(program)) return existsSync(program)
  return (process.env.PATH ?? "").split(delimiter).some((folder) => folder !== "" && existsSync(join(folder, program)))
}

function isDebian() {
  return existsSync("/etc/debian_version") && existsSync("/usr/bin/apt-get")
}
