/**
 * Launch options of the system's browsers for tests, with flags that prevent all network access outside of this machine.
 *
 * CHROMIUM and FIREFOX name other programs.
 */
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import type { LaunchOptions } from "playwright"
import { HANG_MS } from "../limits.ts"

/**
 * Chromium takes the last list that it gets, so this one repeats of Playwright's what concerns a page or a network. The popups of the
 * address bar are pages of their own, which each window loads at its start: 1.7 s of CPU time.
 */
const DISABLED_FEATURES = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "WebUIOmniboxFullPopup",
  "AimEnabled",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsUpgrades",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "ThirdPartyStoragePartitioning",
  "Translate",
]

export const chromiumOptions: LaunchOptions = {
  timeout: HANG_MS,
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: [
    // Chromium's sandbox refuses to run as root, and test machines often run as root.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    `--disable-features=${DISABLED_FEATURES.join(",")}`,
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
  ],
}

export const firefoxOptions: LaunchOptions = {
  timeout: HANG_MS,
  // An unpatched Firefox instead of playwright's build.
  channel: "moz-firefox",
  executablePath: process.env["FIREFOX"] ?? "/usr/bin/firefox-esr",
  // Firefox accepts a settings server that does not exist only in developer mode.
  env: { ...definedOf(process.env), MOZ_REMOTE_SETTINGS_DEVTOOLS: "1" },
  firefoxUserPrefs: {
    "network.dns.native-is-localhost": true,
    // A process for the next page, of which most tests have none.
    "dom.ipc.processPrelaunch.enabled": false,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "network.proxy.no_proxies_on": "localhost, 127.0.0.1",
  },
}

export type ColorScheme = "light" | "dark"

/**
 * Firefox for a user with a mouse, who prefers this colour scheme and no motion. An unpatched Firefox takes these from preferences at its
 * start only, not from the options of a browser context. Without a screen it would have no pointer that hovers.
 */
export function firefoxOptionsFor(scheme: ColorScheme): LaunchOptions {
  return {
    ...firefoxOptions,
    firefoxUserPrefs: {
      ...firefoxOptions.firefoxUserPrefs,
      "layout.css.prefers-color-scheme.content-override": scheme === "dark" ? 0 : 1,
      "ui.prefersReducedMotion": 1,
      "ui.primaryPointerCapabilities": FINE_AND_HOVERS,
      "ui.allPointerCapabilities": FINE_AND_HOVERS,
    },
  }
}
const FINE_AND_HOVERS = 6

/** WebKitGTK's test browser, in a folder named after the machine's architecture. */
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
