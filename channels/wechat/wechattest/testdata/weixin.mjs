// A bot that uses the modules of Tencent's own plugin.
import { register } from "node:module";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

register("./hooks.mjs", import.meta.url);

const base = process.env.WECHAT_URL;
const original = globalThis.fetch;
globalThis.fetch = (url, options) => original(String(url).replace("https://ilinkai.weixin.qq.com", base), options);

const plugin = (module) =>
  import(pathToFileURL(path.join(process.env.PEERS, "node_modules/@tencent-weixin/openclaw-weixin/dist/src", module)));
const api = await plugin("api/api.js");
const login = await plugin("auth/login-qr.js");
const send = await plugin("messaging/send.js");
const upload = await plugin("cdn/upload.js");
const decrypt = await plugin("cdn/pic-decrypt.js");

const started = await login.startWeixinLoginWithQr({ apiBaseUrl: base });
console.log("code", started.qrcodeUrl);
const account = await login.waitForWeixinLogin({ sessionKey: started.sessionKey, apiBaseUrl: base });
console.log("login", account.connected, account.accountId, account.userId);

const at = { baseUrl: account.baseUrl, token: account.botToken };
await api.notifyStart(at);
for (let cursor = ""; ; ) {
  const news = await api.getUpdates({ ...at, get_updates_buf: cursor });
  cursor = news.get_updates_buf ?? cursor;
  for (const msg of news.msgs ?? []) {
    const to = msg.from_user_id;
    const opts = { ...at, contextToken: msg.context_token };
    const config = await api.getConfig({ ...at, ilinkUserId: to, contextToken: msg.context_token });
    await api.sendTyping({ ...at, body: { ilink_user_id: to, typing_ticket: config.typing_ticket, status: 1 } });
    const item = msg.item_list[0];
    if (item.file_item) {
      const media = item.file_item.media;
      const content = await decrypt.downloadAndDecryptBuffer(media.encrypt_query_param, media.aes_key, base + "/c2c", "file");
      const filePath = path.join(process.env.TMPDIR, "answer.txt");
      fs.writeFileSync(filePath, content.toString().toUpperCase());
      const uploaded = await upload.uploadFileAttachmentToWeixin({ filePath, fileName: "answer.txt", toUserId: to, opts: at, cdnBaseUrl: base + "/c2c" });
      await send.sendFileMessageWeixin({ to, text: "", fileName: "answer.txt", uploaded, opts });
      continue;
    }
    try {
      const sent = await send.sendMessageWeixin({ to, text: `${msg.message_id}: ${item.text_item.text}`, opts });
      console.log("sent", sent.serverMessageId);
    } catch (err) {
      console.log("refused", String(err));
    }
  }
}
