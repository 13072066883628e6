// A Discord that somebody else wrote. It takes commands from standard input, and answers each with a line.
import { createInterface } from 'node:readline';
const { DigitalDiscord } = await import(process.env.TWIN);

const discord = new DigitalDiscord({
  guild: { name: 'Twin' }, channels: [{ name: 'general', type: 0 }], users: [{ username: 'ana' }],
});
await discord.start();
const user = await discord.getFirstNonBotUserId();
const channel = (await discord.prisma.channel.findFirst({ where: { name: 'general' } })).id;
const say = (answer) => console.log(JSON.stringify(answer));
say({ url: discord.restUrl, token: discord.botToken, user, channel, guild: discord.guildId, bot: discord.botUserId });

for await (const line of createInterface({ input: process.stdin })) {
  const c = JSON.parse(line);
  switch (c.op) {
    case 'say':
      say(await discord.simulateUserMessage({ channelId: channel, userId: user, content: c.text }));
      break;
    case 'click':
      say(await discord.simulateButtonClick({ channelId: channel, userId: user, messageId: c.message, customId: c.id }));
      break;
    case 'command':
      say(await discord.simulateSlashCommand({ channelId: channel, userId: user, name: c.text, options: [] }));
      break;
    case 'messages':
      say({ messages: await discord.prisma.message.findMany({ where: { channelId: channel, authorId: discord.botUserId }, orderBy: { id: 'asc' } }) });
      break;
  }
}
