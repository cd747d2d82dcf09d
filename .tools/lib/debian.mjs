import { existsSync } from "node:fs"
import { delimiter, isAbsolute, join } from "node:path"
import { run } from "./run.mjs"

/**
 * The system software of each test step: its Debian packages, and the programs that prove it is installed. A program is a name in PATH
 * or an absolute path.
 */
export const system = {
  chromium: { packages: ["chromium"], programs: ["chromium"] },
  firefox: { packages: ["firefox-esr"], programs: ["firefox-esr"] },
  webkit: {
    packages: ["webkit2gtk-driver", "libwebkit2gtk-4.1-0", "xvfb"],
    programs: ["WebKitWebDriver", "Xvfb"],
  },
  postgres: { packages: ["postgresql"], programs: ["/usr/lib/postgresql/15/bin/postgres"] },
  s3: { packages: ["radosgw", "ceph-mon", "ceph-osd"], programs: ["radosgw", "ceph-mon", "ceph-osd"] },
}

/**
 * The reason why the software is missing, or undefined if it is installed. As root on Debian it first installs the missing packages of all
 * `wanted`, once in a run.
 */
export async function absentFromSystem({ packages, programs }, wanted = Object.values(system)) {
  if (programs.every(isInstalled)) return undefined
  if (!isDebian() || process.getuid?.() !== 0) {
    return `needs ${missing(programs)} (Debian: apt-get install ${packages.join(" ")}; as root the tests install them)`
  }
  const failure = await installOnce(wanted)
  if (failure !== undefined) return `needs ${missing(programs)}; ${failure}`
  return programs.every(isInstalled)
    ? undefined
    : `needs ${missing(programs)}, which ${packages.join(" ")} did not install`
}

/** What to install, or undefined if the software is there. Installs nothing. */
export function missingFromSystem({ packages, programs }) {
  if (programs.every(isInstalled)) return undefined
  return `needs ${missing(programs)} (Debian: apt-get install ${packages.join(" ")})`
}

let installing

/** One call for all packages, since apt-get takes seconds to read its lists. */
function installOnce(wanted) {
  installing ??= install(
    wanted.filter(({ programs }) => !programs.every(isInstalled)).flatMap(({ packages }) => packages),
  )
  return installing
}

async function install(packages) {
  console.error(`Installing ${packages.join(", ")} from Debian (the first time takes a minute or two) …`)
  const env = { DEBIAN_FRONTEND: "noninteractive" }
  // On a machine that has just started another apt may hold the lock.
  const patient = ["-q", "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=3"]
  const steps = [["update"], ["install", "-y", "--no-install-recommends", ...packages]]
  for (const [what, ...args] of steps) {
    const { code, output } = await run("apt-get", [what, ...patient, ...args], { env, timeout: 10 * 60_000 })
    if (code !== 0) return `apt-get ${what} failed: ${output.trim().split("\n").slice(-3).join(" ")}`
  }
  return undefined
}

function missing(programs) {
  return programs.filter((program) => !isInstalled(program)).join(", ")
}

function isInstalled(program) {
  if (isAbsolute(program)) return existsSync(program)
  return (process.env.PATH ?? "").split(delimiter).some((folder) => folder !== "" && existsSync(join(folder, program)))
}

function isDebian() {
  return existsSync("/etc/debian_version") && existsSync("/usr/bin/apt-get")
}
