// A bot that uses a library by somebody else.
const http = require('http')
const { WhatsAppClient } = require('@kapso/whatsapp-cloud-api')
const { normalizeWebhook, verifySignature } = require('@kapso/whatsapp-cloud-api/server')

const env = process.env
const client = new WhatsAppClient({ baseUrl: env.WHATSAPP_URL, accessToken: env.WHATSAPP_ACCESS_TOKEN })
const phoneNumberId = env.WHATSAPP_PHONE_NUMBER_ID

const answer = async (message) => {
  const to = message.from
  await client.messages.markRead({ phoneNumberId, messageId: message.id, typingIndicator: { type: 'text' } })
  if (message.type === 'interactive') {
    const chosen = message.interactive.buttonReply || message.interactive.button_reply
    await client.messages.sendText({ phoneNumberId, to, body: 'chosen: ' + chosen.id })
  } else if (message.type === 'document') {
    const content = await client.media.download({ phoneNumberId, mediaId: message.document.id, auth: 'always' })
    await client.messages.sendText({ phoneNumberId, to, body: 'read: ' + Buffer.from(content).toString() })
  } else if (message.text.body === 'buttons') {
    const buttons = [{ id: 'approve:a1', title: 'Approve' }, { id: 'deny:a1', title: 'Deny' }]
    await client.messages.sendInteractiveButtons({ phoneNumberId, to, bodyText: 'May I?', buttons, bizOpaqueCallbackData: 'question' })
  } else if (message.text.body === 'file') {
    const file = new Blob(['a,b\n1,2'], { type: 'text/plain' })
    const media = await client.media.upload({ phoneNumberId, type: 'text/plain', file, fileName: 'a.txt' })
    await client.messages.sendDocument({ phoneNumberId, to, document: { id: media.id, filename: 'a.txt', caption: 'the file' } })
  } else {
    await client.messages.sendText({ phoneNumberId, to, body: 'echo: ' + message.text.body, bizOpaqueCallbackData: 'echo' })
  }
}

const server = http.createServer((request, response) => {
  const query = new URL(request.url, 'http://localhost').searchParams
  if (request.method === 'GET') {
    response.statusCode = query.get('hub.verify_token') === env.WHATSAPP_VERIFY_TOKEN ? 200 : 403
    return response.end(query.get('hub.challenge'))
  }
  const parts = []
  request.on('data', (part) => parts.push(part))
  request.on('end', () => {
    const rawBody = Buffer.concat(parts)
    const signatureHeader = request.headers['x-hub-signature-256']
    if (!verifySignature({ appSecret: env.WHATSAPP_APP_SECRET, rawBody, signatureHeader })) {
      response.statusCode = 401
      return response.end()
    }
    response.end()
    const { messages, statuses } = normalizeWebhook(JSON.parse(rawBody))
    statuses.forEach((status) => console.log('status ' + status.status + ' ' + status.bizOpaqueCallbackData))
    messages.forEach((message) => answer(message).catch((err) => console.log('failed ' + err.message)))
  })
})
server.listen(0, '127.0.0.1', () => console.log('ready ' + server.address().port))
