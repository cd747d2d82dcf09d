/**
 * How the tests start browsers: those of the system, with flags that keep them from any look-up outside of this machine.
 *
 * CHROMIUM and FIREFOX name other programs.
 */
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import type { LaunchOptions } from "playwright"

export const chromiumOptions: LaunchOptions = {
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: [
    // Chromium's sandbox refuses to run as root, which is what a test machine often has.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
  ],
}

export const firefoxOptions: LaunchOptions = {
  // Drives a Firefox as Mozilla builds it, not one that playwright has patched.
  channel: "moz-firefox",
  executablePath: process.env["FIREFOX"] ?? "/usr/bin/firefox-esr",
  // Settings from a server that is none are taken only where this says that a developer is at work.
  env: { ...definedOf(process.env), MOZ_REMOTE_SETTINGS_DEVTOOLS: "1" },
  firefoxUserPrefs: {
    "network.dns.native-is-localhost": true,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "network.proxy.no_proxies_on": "localhost, 127.0.0.1",
  },
}

/** WebKitGTK's own small browser, which lies in a folder named after the machine's architecture. */
export function miniBrowser(): string {
  const folder = "/usr/lib"
  for (const name of readdirSync(folder)) {
    const file = join(folder, name, "webkit2gtk-4.1", "MiniBrowser")
    if (existsSync(file)) return file
  }
  throw new Error(`There is no webkit2gtk-4.1/MiniBrowser below ${folder}: install libwebkit2gtk-4.1-0.`)
}

function definedOf(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => typeof pair[1] === "string"))
}
