/**
 * Session information as version 0.1.0 wrote it: the lines of each log and the text that was stored of it, beside the head or as the
 * document. "LOG" is the identity of the log.
 */
export interface OlderInfo {
  readonly name: string
  readonly place: "head" | "doc"
  /** Why the text called itself stale. */
  readonly stale?: "path" | "log"
  readonly lines: readonly string[]
  readonly text: string
  /** Bytes in base64, by hash. */
  readonly blobs?: Readonly<Record<string, string>>
}

export const OLDER_INFOS: readonly OlderInfo[] = [
  {
    name: "plain",
    place: "head",
    lines: [
      '{"type":"session","format":"@sessions","version":4,"id":"s","timestamp":"2026-01-31T09:30:01.000Z","cwd":"/project","title":"from the header","source":"cron","cronJobId":"nightly","systemPromptOverride":"Be brief."}',
      '{"type":"message","id":"01KG9P6MCGWGEJ22CDXKGF94WZ","parentId":null,"seq":1,"timestamp":"2026-01-31T09:30:03.000Z","message":{"role":"user","content":[{"type":"text","text":"first"}]}}',
      '{"type":"model_change","id":"01KG9P6PB0VZ5NRH815E3CF30Y","parentId":"01KG9P6MCGWGEJ22CDXKGF94WZ","seq":2,"timestamp":"2026-01-31T09:30:05.000Z","provider":"p","model":"m"}',
      '{"type":"message","id":"01KG9P6R9GZ96MFTK7TW03953T","parentId":"01KG9P6PB0VZ5NRH815E3CF30Y","seq":3,"timestamp":"2026-01-31T09:30:07.000Z","message":{"role":"assistant","content":[{"type":"text","text":"ok"}],"provider":"p","model":"m","usage":{"input":3,"output":4,"cost":{"total":0.5}}}}',
      '{"type":"title_change","id":"01KG9P6T80N4RW8SB3VQT08TM8","parentId":"01KG9P6R9GZ96MFTK7TW03953T","seq":4,"timestamp":"2026-01-31T09:30:09.000Z","title":"named","source":"user"}',
      '{"type":"metadata","id":"01KG9P6W6GJS61QVWKPJHAV5J7","parentId":"01KG9P6T80N4RW8SB3VQT08TM8","seq":5,"timestamp":"2026-01-31T09:30:11.000Z","key":"k","value":{"x":1}}',
      '{"type":"compaction","id":"01KG9P6Y504ZZGRT7VSA70FP2C","parentId":"01KG9P6W6GJS61QVWKPJHAV5J7","seq":6,"timestamp":"2026-01-31T09:30:13.000Z","summary":"so far","tokensBefore":10,"readFiles":[],"modifiedFiles":[],"firstKeptEntryId":"01KG9P6R9GZ96MFTK7TW03953T","state":{"thinkingLevel":"off","modelIsExplicit":true,"mode":"none","systemPromptOverride":"Be brief.","models":{"default":{"provider":"p","model":"m"}},"injectedTtsrRules":[]},"firstKeptSeq":3}',
    ],
    text: '{"v":1,"log":"LOG","to":{"seq":6,"id":"01KG9P6Y504ZZGRT7VSA70FP2C"},"leaf":"01KG9P6Y504ZZGRT7VSA70FP2C","createdAt":"2026-01-31T09:30:01.000Z","messageCount":2,"headerTitle":"from the header","cwd":"/project","source":"cron","cronJobId":"nightly","systemPromptOverride":"Be brief.","prompts":[{"id":"01KG9P6MCGWGEJ22CDXKGF94WZ","text":"first"}],"modelIsExplicit":true,"metadata":{"k":{"x":1}},"metrics":{"input":3,"output":4,"cacheRead":0,"cacheWrite":0,"totalTokens":7,"calls":1,"cost":0.5},"lastMessageAt":"2026-01-31T09:30:07.000Z","model":{"provider":"p","model":"m"},"userTitle":"named","compaction":{"seq":6,"id":"01KG9P6Y504ZZGRT7VSA70FP2C","firstKeptSeq":3}}',
  },
  {
    name: "first append",
    place: "head",
    lines: [
      '{"type":"session","format":"@sessions","version":4,"id":"s","timestamp":"2026-01-31T09:30:14.000Z"}',
      '{"type":"message","id":"01KG9P712RF859TFPNRR90E7DB","parentId":null,"seq":1,"timestamp":"2026-01-31T09:30:16.000Z","message":{"role":"user","content":[{"type":"text","text":"only"}]}}',
    ],
    text: '{"v":1,"log":"LOG","to":{"seq":1,"id":"01KG9P712RF859TFPNRR90E7DB"},"leaf":"01KG9P712RF859TFPNRR90E7DB","createdAt":"2026-01-31T09:30:14.000Z","messageCount":1,"prompts":[{"id":"01KG9P712RF859TFPNRR90E7DB","text":"only"}],"modelIsExplicit":false,"metadata":{},"metrics":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"calls":0},"lastMessageAt":"2026-01-31T09:30:16.000Z"}',
  },
  {
    name: "more prompts than are kept",
    place: "head",
    lines: [
      '{"type":"session","format":"@sessions","version":4,"id":"s","timestamp":"2026-01-31T09:30:17.000Z"}',
      '{"type":"message","id":"01KG9P740GTH54QE8S794WA4FS","parentId":null,"seq":1,"timestamp":"2026-01-31T09:30:19.000Z","message":{"role":"user","content":[{"type":"text","text":"say 1"}]}}',
      '{"type":"message","id":"01KG9P75Z0SF3MW9ZQE0REWG5R","parentId":"01KG9P740GTH54QE8S794WA4FS","seq":2,"timestamp":"2026-01-31T09:30:21.000Z","message":{"role":"user","content":[{"type":"text","text":"say 2"}]}}',
      '{"type":"message","id":"01KG9P77XGYRZ6F6PPHJTYYH73","parentId":"01KG9P75Z0SF3MW9ZQE0REWG5R","seq":3,"timestamp":"2026-01-31T09:30:23.000Z","message":{"role":"user","content":[{"type":"text","text":"say 3"}]}}',
      '{"type":"message","id":"01KG9P79W01G0KZE353DBZYNB9","parentId":"01KG9P77XGYRZ6F6PPHJTYYH73","seq":4,"timestamp":"2026-01-31T09:30:25.000Z","message":{"role":"user","content":[{"type":"text","text":"say 4"}]}}',
      '{"type":"message","id":"01KG9P7BTGCTFAC4HT880H6WWW","parentId":"01KG9P79W01G0KZE353DBZYNB9","seq":5,"timestamp":"2026-01-31T09:30:27.000Z","message":{"role":"user","content":[{"type":"text","text":"say 5"}]}}',
    ],
    text: '{"v":1,"log":"LOG","to":{"seq":5,"id":"01KG9P7BTGCTFAC4HT880H6WWW"},"leaf":"01KG9P7BTGCTFAC4HT880H6WWW","createdAt":"2026-01-31T09:30:17.000Z","messageCount":5,"prompts":[{"id":"01KG9P740GTH54QE8S794WA4FS","text":"say 1"},{"id":"01KG9P75Z0SF3MW9ZQE0REWG5R","text":"say 2"},{"id":"01KG9P77XGYRZ6F6PPHJTYYH73","text":"say 3"}],"modelIsExplicit":false,"metadata":{},"metrics":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"calls":0},"lastMessageAt":"2026-01-31T09:30:27.000Z","promptsMore":true}',
  },
  {
    name: "edited away",
    place: "head",
    lines: [
      '{"type":"session","format":"@sessions","version":4,"id":"s","timestamp":"2026-01-31T09:30:28.000Z"}',
      '{"type":"message","id":"01KG9P7ER8ZKKHPPRYR7Q2YPBX","parentId":null,"seq":1,"timestamp":"2026-01-31T09:30:30.000Z","message":{"role":"user","content":[{"type":"text","text":"say 1"}]}}',
      '{"type":"context_edit","id":"01KG9P7GPRATH944M8HESTN0ZV","parentId":"01KG9P7ER8ZKKHPPRYR7Q2YPBX","seq":2,"timestamp":"2026-01-31T09:30:32.000Z","targetId":"01KG9P7ER8ZKKHPPRYR7Q2YPBX","replacement":null,"targetSeq":1}',
      '{"type":"message","id":"01KG9P7JN8TJX2MARWV9SN3TMM","parentId":"01KG9P7GPRATH944M8HESTN0ZV","seq":3,"timestamp":"2026-01-31T09:30:34.000Z","message":{"role":"user","content":[{"type":"text","text":"say 2"}]}}',
      '{"type":"context_edit","id":"01KG9P7MKR78D4DAWJ8EMK7XRW","parentId":"01KG9P7JN8TJX2MARWV9SN3TMM","seq":4,"timestamp":"2026-01-31T09:30:36.000Z","targetId":"01KG9P7JN8TJX2MARWV9SN3TMM","replacement":null,"targetSeq":3}',
      '{"type":"message","id":"01KG9P7PJ8YT4P3MD1774YP2BJ","parentId":"01KG9P7MKR78D4DAWJ8EMK7XRW","seq":5,"timestamp":"2026-01-31T09:30:38.000Z","message":{"role":"user","content":[{"type":"text","text":"say 3"}]}}',
      '{"type":"context_edit","id":"01KG9P7RGR1Z4HFC6SZ2JXP9K4","parentId":"01KG9P7PJ8YT4P3MD1774YP2BJ","seq":6,"timestamp":"2026-01-31T09:30:40.000Z","targetId":"01KG9P7PJ8YT4P3MD1774YP2BJ","replacement":null,"targetSeq":5}',
      '{"type":"message","id":"01KG9P7TF8P6AVMA5TP6DT23D0","parentId":"01KG9P7RGR1Z4HFC6SZ2JXP9K4","seq":7,"timestamp":"2026-01-31T09:30:42.000Z","message":{"role":"user","content":[{"type":"text","text":"say 4"}]}}',
      '{"type":"context_edit","id":"01KG9P7WDR55JZ8KH135JCCPHF","parentId":"01KG9P7TF8P6AVMA5TP6DT23D0","seq":8,"timestamp":"2026-01-31T09:30:44.000Z","targetId":"01KG9P7TF8P6AVMA5TP6DT23D0","replacement":null,"targetSeq":7}',
      '{"type":"message","id":"01KG9P7YC8C3A6ESYCE9PHHV39","parentId":"01KG9P7WDR55JZ8KH135JCCPHF","seq":9,"timestamp":"2026-01-31T09:30:46.000Z","message":{"role":"user","content":[{"type":"text","text":"say 5"}]}}',
      '{"type":"context_edit","id":"01KG9P80ARHCNXH3R8CQR9NNWC","parentId":"01KG9P7YC8C3A6ESYCE9PHHV39","seq":10,"timestamp":"2026-01-31T09:30:48.000Z","targetId":"01KG9P7YC8C3A6ESYCE9PHHV39","replacement":null,"targetSeq":9}',
      '{"type":"message","id":"01KG9P8298K1R8JN0E64ERD24X","parentId":"01KG9P80ARHCNXH3R8CQR9NNWC","seq":11,"timestamp":"2026-01-31T09:30:50.000Z","message":{"role":"user","content":[{"type":"text","text":"say 6"}]}}',
      '{"type":"context_edit","id":"01KG9P847RZN7VR9Y1W8ANXV99","parentId":"01KG9P8298K1R8JN0E64ERD24X","seq":12,"timestamp":"2026-01-31T09:30:52.000Z","targetId":"01KG9P8298K1R8JN0E64ERD24X","replacement":null,"targetSeq":11}',
      '{"type":"message","id":"01KG9P8668J6AFHK29V0X00V65","parentId":"01KG9P847RZN7VR9Y1W8ANXV99","seq":13,"timestamp":"2026-01-31T09:30:54.000Z","message":{"role":"user","content":[{"type":"text","text":"say 7"}]}}',
      '{"type":"context_edit","id":"01KG9P884RAKZE3GDFHRGH8PR0","parentId":"01KG9P8668J6AFHK29V0X00V65","seq":14,"timestamp":"2026-01-31T09:30:56.000Z","targetId":"01KG9P8668J6AFHK29V0X00V65","replacement":null,"targetSeq":13}',
      '{"type":"message","id":"01KG9P8A38823HMXHWTNV7T7VF","parentId":"01KG9P884RAKZE3GDFHRGH8PR0","seq":15,"timestamp":"2026-01-31T09:30:58.000Z","message":{"role":"user","content":[{"type":"text","text":"say 8"}]}}',
      '{"type":"context_edit","id":"01KG9P8C1RNP45N1VCFFJ7S2V3","parentId":"01KG9P8A38823HMXHWTNV7T7VF","seq":16,"timestamp":"2026-01-31T09:31:00.000Z","targetId":"01KG9P8A38823HMXHWTNV7T7VF","replacement":null,"targetSeq":15}',
      '{"type":"message","id":"01KG9P8E08CX1W4ZPM9GMM7BMZ","parentId":"01KG9P8C1RNP45N1VCFFJ7S2V3","seq":17,"timestamp":"2026-01-31T09:31:02.000Z","message":{"role":"user","content":[{"type":"text","text":"say 9"}]}}',
      '{"type":"context_edit","id":"01KG9P8FYRW4HVHW3XJ8HCMVEF","parentId":"01KG9P8E08CX1W4ZPM9GMM7BMZ","seq":18,"timestamp":"2026-01-31T09:31:04.000Z","targetId":"01KG9P8E08CX1W4ZPM9GMM7BMZ","replacement":null,"targetSeq":17}',
      '{"type":"message","id":"01KG9P8HX8NEYN0RR3GFVRSY5R","parentId":"01KG9P8FYRW4HVHW3XJ8HCMVEF","seq":19,"timestamp":"2026-01-31T09:31:06.000Z","message":{"role":"user","content":[{"type":"text","text":"say 10"}]}}',
      '{"type":"context_edit","id":"01KG9P8KVRQCB64SNDPRJG44YA","parentId":"01KG9P8HX8NEYN0RR3GFVRSY5R","seq":20,"timestamp":"2026-01-31T09:31:08.000Z","targetId":"01KG9P8HX8NEYN0RR3GFVRSY5R","replacement":null,"targetSeq":19}',
      '{"type":"message","id":"01KG9P8NT8G6F42T8GRTS6A1R2","parentId":"01KG9P8KVRQCB64SNDPRJG44YA","seq":21,"timestamp":"2026-01-31T09:31:10.000Z","message":{"role":"user","content":[{"type":"text","text":"say 11"}]}}',
      '{"type":"message","id":"01KG9P8QRRQH4HJWWM72C95ZPX","parentId":"01KG9P8NT8G6F42T8GRTS6A1R2","seq":22,"timestamp":"2026-01-31T09:31:12.000Z","message":{"role":"user","content":[{"type":"text","text":"say 12"}]}}',
    ],
    text: '{"v":1,"log":"LOG","to":{"seq":22,"id":"01KG9P8QRRQH4HJWWM72C95ZPX"},"leaf":"01KG9P8QRRQH4HJWWM72C95ZPX","createdAt":"2026-01-31T09:30:28.000Z","messageCount":12,"prompts":[{"id":"01KG9P7ER8ZKKHPPRYR7Q2YPBX","text":""},{"id":"01KG9P7JN8TJX2MARWV9SN3TMM","text":""},{"id":"01KG9P7PJ8YT4P3MD1774YP2BJ","text":""},{"id":"01KG9P7TF8P6AVMA5TP6DT23D0","text":""},{"id":"01KG9P7YC8C3A6ESYCE9PHHV39","text":""},{"id":"01KG9P8298K1R8JN0E64ERD24X","text":""},{"id":"01KG9P8668J6AFHK29V0X00V65","text":""},{"id":"01KG9P8A38823HMXHWTNV7T7VF","text":""},{"id":"01KG9P8NT8G6F42T8GRTS6A1R2","text":"say 11"},{"id":"01KG9P8QRRQH4HJWWM72C95ZPX","text":"say 12"}],"modelIsExplicit":false,"metadata":{},"metrics":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"calls":0},"lastMessageAt":"2026-01-31T09:31:12.000Z","promptsHidden":true}',
  },
  {
    name: "after a branch",
    place: "head",
    stale: "path",
    lines: [
      '{"type":"session","format":"@sessions","version":4,"id":"s","timestamp":"2026-01-31T09:31:13.000Z"}',
      '{"type":"model_change","id":"01KG9P8TPGX7ASTZ8M2QQCFSG8","parentId":null,"seq":1,"timestamp":"2026-01-31T09:31:15.000Z","provider":"p","model":"first"}',
      '{"type":"message","id":"01KG9P8WN0NPP05PBXAMJE2DSG","parentId":"01KG9P8TPGX7ASTZ8M2QQCFSG8","seq":2,"timestamp":"2026-01-31T09:31:17.000Z","message":{"role":"user","content":[{"type":"text","text":"say 1"}]}}',
      '{"type":"message","id":"01KG9P8YKGG27ACAREMPHN76VE","parentId":"01KG9P8WN0NPP05PBXAMJE2DSG","seq":3,"timestamp":"2026-01-31T09:31:19.000Z","message":{"role":"user","content":[{"type":"text","text":"say 2"}]}}',
      '{"type":"message","id":"01KG9P90J0PSDV17C536Z0HR6E","parentId":"01KG9P8YKGG27ACAREMPHN76VE","seq":4,"timestamp":"2026-01-31T09:31:21.000Z","message":{"role":"user","content":[{"type":"text","text":"say 3"}]}}',
      '{"type":"message","id":"01KG9P92GGDAQN9XP7S3WN953S","parentId":"01KG9P90J0PSDV17C536Z0HR6E","seq":5,"timestamp":"2026-01-31T09:31:23.000Z","message":{"role":"user","content":[{"type":"text","text":"say 4"}]}}',
      '{"type":"message","id":"01KG9P94F0HE2QG6NV0EX3CKRE","parentId":"01KG9P92GGDAQN9XP7S3WN953S","seq":6,"timestamp":"2026-01-31T09:31:25.000Z","message":{"role":"user","content":[{"type":"text","text":"say 5"}]}}',
      '{"type":"message","id":"01KG9P96DGJEEN4YPGCZ8WPD3P","parentId":"01KG9P94F0HE2QG6NV0EX3CKRE","seq":7,"timestamp":"2026-01-31T09:31:27.000Z","message":{"role":"user","content":[{"type":"text","text":"say 6"}]}}',
      '{"type":"model_change","id":"01KG9P98C0YA33Q74K9E7RTG6X","parentId":"01KG9P96DGJEEN4YPGCZ8WPD3P","seq":8,"timestamp":"2026-01-31T09:31:29.000Z","provider":"p","model":"second"}',
      '{"type":"leaf","id":"01KG9P9AAGHH9W1PC41Q8MF8JT","parentId":"01KG9P94F0HE2QG6NV0EX3CKRE","seq":9,"timestamp":"2026-01-31T09:31:31.000Z","targetSeq":6}',
      '{"type":"message","id":"01KG9P9C90G23XXHDGFSXWQGWY","parentId":"01KG9P9AAGHH9W1PC41Q8MF8JT","seq":10,"timestamp":"2026-01-31T09:31:33.000Z","message":{"role":"user","content":[{"type":"text","text":"there"}]}}',
    ],
    text: '{"v":1,"log":"LOG","to":{"seq":10,"id":"01KG9P9C90G23XXHDGFSXWQGWY"},"leaf":"01KG9P9C90G23XXHDGFSXWQGWY","createdAt":"2026-01-31T09:31:13.000Z","messageCount":7,"prompts":[{"id":"01KG9P8WN0NPP05PBXAMJE2DSG","text":"say 1"},{"id":"01KG9P8YKGG27ACAREMPHN76VE","text":"say 2"},{"id":"01KG9P90J0PSDV17C536Z0HR6E","text":"say 3"}],"modelIsExplicit":true,"metadata":{},"metrics":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"calls":0},"model":{"provider":"p","model":"second"},"lastMessageAt":"2026-01-31T09:31:33.000Z","promptsMore":true,"modelUnknown":true}',
  },
  {
    name: "after a branch and a change of model",
    place: "head",
    lines: [
      '{"type":"session","format":"@sessions","version":4,"id":"s","timestamp":"2026-01-31T09:31:34.000Z"}',
      '{"type":"model_change","id":"01KG9P9F6RJ3FG8NCFDBCMA8DV","parentId":null,"seq":1,"timestamp":"2026-01-31T09:31:36.000Z","provider":"p","model":"first"}',
      '{"type":"message","id":"01KG9P9H58A7YT9NCK5H2X4KAA","parentId":"01KG9P9F6RJ3FG8NCFDBCMA8DV","seq":2,"timestamp":"2026-01-31T09:31:38.000Z","message":{"role":"user","content":[{"type":"text","text":"say 1"}]}}',
      '{"type":"message","id":"01KG9P9K3R9P062N97DHGDSDT1","parentId":"01KG9P9H58A7YT9NCK5H2X4KAA","seq":3,"timestamp":"2026-01-31T09:31:40.000Z","message":{"role":"user","content":[{"type":"text","text":"say 2"}]}}',
      '{"type":"message","id":"01KG9P9N28G8M1SCHR0R7JA9TG","parentId":"01KG9P9K3R9P062N97DHGDSDT1","seq":4,"timestamp":"2026-01-31T09:31:42.000Z","message":{"role":"user","content":[{"type":"text","text":"say 3"}]}}',
      '{"type":"message","id":"01KG9P9Q0R28TCJX0WA43CZX76","parentId":"01KG9P9N28G8M1SCHR0R7JA9TG","seq":5,"timestamp":"2026-01-31T09:31:44.000Z","message":{"role":"user","content":[{"type":"text","text":"say 4"}]}}',
      '{"type":"message","id":"01KG9P9RZ8T5MXZC3TJJR3CF62","parentId":"01KG9P9Q0R28TCJX0WA43CZX76","seq":6,"timestamp":"2026-01-31T09:31:46.000Z","message":{"role":"user","content":[{"type":"text","text":"say 5"}]}}',
      '{"type":"message","id":"01KG9P9TXRS054YD5ZH9SMPN55","parentId":"01KG9P9RZ8T5MXZC3TJJR3CF62","seq":7,"timestamp":"2026-01-31T09:31:48.000Z","message":{"role":"user","content":[{"type":"text","text":"say 6"}]}}',
      '{"type":"model_change","id":"01KG9P9WW860G7AAD498K4VKMN","parentId":"01KG9P9TXRS054YD5ZH9SMPN55","seq":8,"timestamp":"2026-01-31T09:31:50.000Z","provider":"p","model":"second"}',
      '{"type":"leaf","id":"01KG9P9YTRZEBN61J6JEDGMFDJ","parentId":"01KG9P9RZ8T5MXZC3TJJR3CF62","seq":9,"timestamp":"2026-01-31T09:31:52.000Z","targetSeq":6}',
      '{"type":"model_change","id":"01KG9PA0S88XF28QADHG0C9F5J","parentId":"01KG9P9YTRZEBN61J6JEDGMFDJ","seq":10,"timestamp":"2026-01-31T09:31:54.000Z","provider":"p","model":"third"}',
    ],
    text: '{"v":1,"log":"LOG","to":{"seq":10,"id":"01KG9PA0S88XF28QADHG0C9F5J"},"leaf":"01KG9PA0S88XF28QADHG0C9F5J","createdAt":"2026-01-31T09:31:34.000Z","messageCount":6,"prompts":[{"id":"01KG9P9H58A7YT9NCK5H2X4KAA","text":"say 1"},{"id":"01KG9P9K3R9P062N97DHGDSDT1","text":"say 2"},{"id":"01KG9P9N28G8M1SCHR0R7JA9TG","text":"say 3"}],"modelIsExplicit":true,"metadata":{},"metrics":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"calls":0},"model":{"provider":"p","model":"third"},"lastMessageAt":"2026-01-31T09:31:48.000Z","promptsMore":true}',
  },
  {
    name: "without the first prompts",
    place: "head",
    stale: "log",
    lines: [
      '{"type":"session","format":"@sessions","version":4,"id":"s","timestamp":"2026-01-31T09:31:55.000Z"}',
      '{"type":"model_change","id":"01KG9PA3Q06XBFQDJPTEY4A62K","parentId":null,"seq":1,"timestamp":"2026-01-31T09:31:57.000Z","provider":"p","model":"first"}',
      '{"type":"message","id":"01KG9PA5NGGE07SZFPS2W0BAE4","parentId":"01KG9PA3Q06XBFQDJPTEY4A62K","seq":2,"timestamp":"2026-01-31T09:31:59.000Z","message":{"role":"user","content":[{"type":"text","text":"say 1"}]}}',
      '{"type":"message","id":"01KG9PA7M0H5QWMZWZW0NNRSD6","parentId":"01KG9PA5NGGE07SZFPS2W0BAE4","seq":3,"timestamp":"2026-01-31T09:32:01.000Z","message":{"role":"user","content":[{"type":"text","text":"say 2"}]}}',
      '{"type":"message","id":"01KG9PA9JGQKC33KFD4236YJXA","parentId":"01KG9PA7M0H5QWMZWZW0NNRSD6","seq":4,"timestamp":"2026-01-31T09:32:03.000Z","message":{"role":"user","content":[{"type":"text","text":"say 3"}]}}',
      '{"type":"message","id":"01KG9PABH0A3A5GC10RD05GF9F","parentId":"01KG9PA9JGQKC33KFD4236YJXA","seq":5,"timestamp":"2026-01-31T09:32:05.000Z","message":{"role":"user","content":[{"type":"text","text":"say 4"}]}}',
      '{"type":"message","id":"01KG9PADFGFRCJCRJZ4EYPBQWJ","parentId":"01KG9PABH0A3A5GC10RD05GF9F","seq":6,"timestamp":"2026-01-31T09:32:07.000Z","message":{"role":"user","content":[{"type":"text","text":"say 5"}]}}',
      '{"type":"message","id":"01KG9PAFE0GSB73ERQDYCWKZHX","parentId":"01KG9PADFGFRCJCRJZ4EYPBQWJ","seq":7,"timestamp":"2026-01-31T09:32:09.000Z","message":{"role":"user","content":[{"type":"text","text":"say 6"}]}}',
      '{"type":"model_change","id":"01KG9PAHCG64Y8S44D9T11V9DF","parentId":"01KG9PAFE0GSB73ERQDYCWKZHX","seq":8,"timestamp":"2026-01-31T09:32:11.000Z","provider":"p","model":"second"}',
      '{"type":"tombstone","id":"01KG9PAKB0WQVKS4PZ9247GDZ6","parentId":"01KG9PAHCG64Y8S44D9T11V9DF","seq":9,"timestamp":"2026-01-31T09:32:13.000Z","targetId":"01KG9PA5NGGE07SZFPS2W0BAE4","targetSeq":2}',
      '{"type":"tombstone","id":"01KG9PAN9G0QW4KFWFN1GE1B5M","parentId":"01KG9PAKB0WQVKS4PZ9247GDZ6","seq":10,"timestamp":"2026-01-31T09:32:15.000Z","targetId":"01KG9PA7M0H5QWMZWZW0NNRSD6","targetSeq":3}',
      '{"type":"tombstone","id":"01KG9PAQ80QX7BP719JCRQ470F","parentId":"01KG9PAN9G0QW4KFWFN1GE1B5M","seq":11,"timestamp":"2026-01-31T09:32:17.000Z","targetId":"01KG9PA9JGQKC33KFD4236YJXA","targetSeq":4}',
    ],
    text: '{"v":1,"log":"LOG","to":{"seq":11,"id":"01KG9PAQ80QX7BP719JCRQ470F"},"leaf":"01KG9PAQ80QX7BP719JCRQ470F","createdAt":"2026-01-31T09:31:55.000Z","messageCount":6,"prompts":[],"modelIsExplicit":true,"metadata":{},"metrics":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"calls":0},"model":{"provider":"p","model":"second"},"lastMessageAt":"2026-01-31T09:32:09.000Z","promptsMore":true,"promptsLost":true}',
  },
  {
    name: "without the first prompts, after a branch",
    place: "head",
    stale: "log",
    lines: [
      '{"type":"session","format":"@sessions","version":4,"id":"s","timestamp":"2026-01-31T09:32:18.000Z"}',
      '{"type":"model_change","id":"01KG9PAT5REVVB83HR3Z7TF70G","parentId":null,"seq":1,"timestamp":"2026-01-31T09:32:20.000Z","provider":"p","model":"first"}',
      '{"type":"message","id":"01KG9PAW482Y0CMB3YSNC9ZP1M","parentId":"01KG9PAT5REVVB83HR3Z7TF70G","seq":2,"timestamp":"2026-01-31T09:32:22.000Z","message":{"role":"user","content":[{"type":"text","text":"say 1"}]}}',
      '{"type":"message","id":"01KG9PAY2R9WMPWNZH2Q65RNFS","parentId":"01KG9PAW482Y0CMB3YSNC9ZP1M","seq":3,"timestamp":"2026-01-31T09:32:24.000Z","message":{"role":"user","content":[{"type":"text","text":"say 2"}]}}',
      '{"type":"message","id":"01KG9PB018H8N0SMKAVS9RXYKZ","parentId":"01KG9PAY2R9WMPWNZH2Q65RNFS","seq":4,"timestamp":"2026-01-31T09:32:26.000Z","message":{"role":"user","content":[{"type":"text","text":"say 3"}]}}',
      '{"type":"message","id":"01KG9PB1ZRE50E7VEP92RAK76P","parentId":"01KG9PB018H8N0SMKAVS9RXYKZ","seq":5,"timestamp":"2026-01-31T09:32:28.000Z","message":{"role":"user","content":[{"type":"text","text":"say 4"}]}}',
      '{"type":"message","id":"01KG9PB3Y8A436142ND518RGJ0","parentId":"01KG9PB1ZRE50E7VEP92RAK76P","seq":6,"timestamp":"2026-01-31T09:32:30.000Z","message":{"role":"user","content":[{"type":"text","text":"say 5"}]}}',
      '{"type":"message","id":"01KG9PB5WRGR47R251FDKY6KHG","parentId":"01KG9PB3Y8A436142ND518RGJ0","seq":7,"timestamp":"2026-01-31T09:32:32.000Z","message":{"role":"user","content":[{"type":"text","text":"say 6"}]}}',
      '{"type":"model_change","id":"01KG9PB7V89KXHRBWN5955MP2H","parentId":"01KG9PB5WRGR47R251FDKY6KHG","seq":8,"timestamp":"2026-01-31T09:32:34.000Z","provider":"p","model":"second"}',
      '{"type":"tombstone","id":"01KG9PB9SRJHJKCNDTH79F34JK","parentId":"01KG9PB7V89KXHRBWN5955MP2H","seq":9,"timestamp":"2026-01-31T09:32:36.000Z","targetId":"01KG9PAW482Y0CMB3YSNC9ZP1M","targetSeq":2}',
      '{"type":"tombstone","id":"01KG9PBBR85R49GE8MRY5CY9AF","parentId":"01KG9PB9SRJHJKCNDTH79F34JK","seq":10,"timestamp":"2026-01-31T09:32:38.000Z","targetId":"01KG9PAY2R9WMPWNZH2Q65RNFS","targetSeq":3}',
      '{"type":"tombstone","id":"01KG9PBDPR7FWJG5RS0QGAJNFY","parentId":"01KG9PBBR85R49GE8MRY5CY9AF","seq":11,"timestamp":"2026-01-31T09:32:40.000Z","targetId":"01KG9PB018H8N0SMKAVS9RXYKZ","targetSeq":4}',
      '{"type":"leaf","id":"01KG9PBFN8CP00C2EQ76VTD5G4","parentId":"01KG9PB3Y8A436142ND518RGJ0","seq":12,"timestamp":"2026-01-31T09:32:42.000Z","targetSeq":6}',
    ],
    text: '{"v":1,"log":"LOG","to":{"seq":12,"id":"01KG9PBFN8CP00C2EQ76VTD5G4"},"leaf":"01KG9PBFN8CP00C2EQ76VTD5G4","createdAt":"2026-01-31T09:32:18.000Z","messageCount":6,"prompts":[],"modelIsExplicit":true,"metadata":{},"metrics":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"calls":0},"model":{"provider":"p","model":"second"},"lastMessageAt":"2026-01-31T09:32:32.000Z","promptsMore":true,"promptsLost":true,"modelUnknown":true}',
  },
  {
    name: "a title of another writer in the blob store",
    place: "head",
    stale: "log",
    lines: [
      '{"type":"session","format":"@sessions","version":4,"id":"s","timestamp":"2026-01-31T09:32:43.000Z"}',
      '{"type":"message","id":"01KG9PBJK0T25CNT8QXD4Z0H4Z","parentId":null,"seq":1,"timestamp":"2026-01-31T09:32:45.000Z","message":{"role":"user","content":[{"type":"text","text":"hi"}]}}',
      '{"type":"title_change","id":"01KG9PBMHGYNP4K8JFM00PH1H1","parentId":"01KG9PBJK0T25CNT8QXD4Z0H4Z","seq":2,"timestamp":"2026-01-31T09:32:47.000Z","title":"blob:sha256:3cb6fbe1a8d9d01b199749182321d793707d0b853860dbcbbf562b7defb65e8f","source":"user","blobs":{"/title":"utf8"}}',
      '{"type":"message","id":"01KG9PBPG0A6Y1WPKTMDZ1NZCH","parentId":"01KG9PBJK0T25CNT8QXD4Z0H4Z","seq":3,"timestamp":"2026-01-31T09:32:49.000Z","message":{"role":"user","content":[{"type":"text","text":"more"}]}}',
    ],
    text: '{"v":1,"log":"LOG","to":{"seq":3,"id":"01KG9PBPG0A6Y1WPKTMDZ1NZCH"},"leaf":"01KG9PBPG0A6Y1WPKTMDZ1NZCH","createdAt":"2026-01-31T09:32:43.000Z","messageCount":2,"prompts":[{"id":"01KG9PBJK0T25CNT8QXD4Z0H4Z","text":"hi"},{"id":"01KG9PBPG0A6Y1WPKTMDZ1NZCH","text":"more"}],"modelIsExplicit":false,"metadata":{},"metrics":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"calls":0},"lastMessageAt":"2026-01-31T09:32:49.000Z","valuesApart":true}',
    blobs: {
      "3cb6fbe1a8d9d01b199749182321d793707d0b853860dbcbbf562b7defb65e8f":
        "bG9uZyBsb25nIGxvbmcgbG9uZyBsb25nIGxvbmcgbG9uZyBsb25nIGxvbmcgbG9uZyBsb25nIGxvbmcgbG9uZyBsb25nIGxvbmcgbG9uZyBsb25nIGxvbmcgbG9uZyBsb25nIGxvbmcgbG9uZyBsb25nIGxvbmcgbG9uZyBsb25nIGxvbmcgbG9uZyBsb25nIGxvbmcg",
    },
  },
  {
    name: "a log of an older version",
    place: "doc",
    lines: [
      '{"type":"session","version":3,"id":"0199","timestamp":"2026-01-31T09:30:00.000Z","cwd":"/old"}',
      '{"id":"a","parentId":null,"timestamp":"2026-01-31T09:31:00.000Z","type":"message","message":{"role":"user","content":"old"}}',
      '{"id":"b","parentId":"a","timestamp":"2026-01-31T09:31:00.000Z","type":"model_change","provider":"p","modelId":"m"}',
    ],
    text: '{"v":1,"log":"LOG","to":{"seq":2,"id":""},"leaf":"b","createdAt":"2026-01-31T09:30:00.000Z","messageCount":1,"cwd":"/old","prompts":[{"id":"a","text":"old"}],"modelIsExplicit":true,"metadata":{},"metrics":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"calls":0},"lastMessageAt":"2026-01-31T09:31:00.000Z","model":{"provider":"p","model":"m"},"whole":true}',
  },
]
