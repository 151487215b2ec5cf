# PPO, single file, Nature CNN on 84x84x4 stacks; rollout storage on the GPU, simulated vector env.
import argparse
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions.categorical import Categorical

Categorical.set_default_validate_args(False)


def layer_init(layer, std=2 ** 0.5, bias=0.0):
    nn.init.orthogonal_(layer.weight, std)
    nn.init.constant_(layer.bias, bias)
    return layer


class Agent(nn.Module):
    def __init__(self, n_actions):
        super().__init__()
        self.network = nn.Sequential(
            layer_init(nn.Conv2d(4, 32, 8, stride=4)), nn.ReLU(),
            layer_init(nn.Conv2d(32, 64, 4, stride=2)), nn.ReLU(),
            layer_init(nn.Conv2d(64, 64, 3, stride=1)), nn.ReLU(),
            nn.Flatten(), layer_init(nn.Linear(64 * 7 * 7, 512)), nn.ReLU())
        self.actor = layer_init(nn.Linear(512, n_actions), std=0.01)
        self.critic = layer_init(nn.Linear(512, 1), std=1)

    def get_value(self, x):
        return self.critic(self.network(x / 255.0))

    def get_action_and_value(self, x, action=None):
        hidden = self.network(x / 255.0)
        probs = Categorical(logits=self.actor(hidden))
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(hidden)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--num-envs", type=int, default=64)
    p.add_argument("--num-steps", type=int, default=128)
    p.add_argument("--minibatches", type=int, default=4)
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--updates", type=int, default=2)
    a = p.parse_args()
    device = torch.device("cuda")
    agent = Agent(6).to(device)
    optimizer = optim.Adam(agent.parameters(), lr=2.5e-4, eps=1e-5)
    obs = torch.zeros((a.num_steps, a.num_envs, 4, 84, 84)).to(device)
    actions = torch.zeros((a.num_steps, a.num_envs)).to(device)
    logprobs, rewards, dones, values = (torch.zeros((a.num_steps, a.num_envs)).to(device) for _ in range(4))
    next_obs, next_done = torch.zeros(a.num_envs, 4, 84, 84).to(device), torch.zeros(a.num_envs).to(device)
    batch_size = a.num_envs * a.num_steps
    for update in range(a.updates):
        for step in range(a.num_steps):
            obs[step], dones[step] = next_obs, next_done
            with torch.no_grad():
                action, logprob, _, value = agent.get_action_and_value(next_obs)
                values[step] = value.flatten()
            actions[step], logprobs[step] = action, logprob
            action.cpu().numpy()                                   # env.step(action)
            rewards[step] = torch.randn(a.num_envs).to(device).view(-1)
            next_obs, next_done = torch.zeros(a.num_envs, 4, 84, 84).to(device), torch.zeros(a.num_envs).to(device)
        with torch.no_grad():
            next_value = agent.get_value(next_obs).reshape(1, -1)
            advantages, last = torch.zeros_like(rewards), 0
            for t in reversed(range(a.num_steps)):
                nonterm = 1.0 - (next_done if t == a.num_steps - 1 else dones[t + 1])
                nextv = next_value if t == a.num_steps - 1 else values[t + 1]
                delta = rewards[t] + 0.99 * nextv * nonterm - values[t]
                advantages[t] = last = delta + 0.99 * 0.95 * nonterm * last
            returns = advantages + values
        b_obs, b_logp = obs.reshape((-1, 4, 84, 84)), logprobs.reshape(-1)
        b_act, b_adv, b_ret = actions.reshape(-1), advantages.reshape(-1), returns.reshape(-1)
        for epoch in range(a.epochs):
            inds = torch.randperm(batch_size).to(device)
            for mb in inds.chunk(a.minibatches):
                _, newlogp, entropy, newv = agent.get_action_and_value(b_obs[mb], b_act.long()[mb])
                ratio = (newlogp - b_logp[mb]).exp()
                adv = b_adv[mb]
                adv = (adv - adv.mean()) / (adv.std() + 1e-8)
                pg = torch.max(-adv * ratio, -adv * torch.clamp(ratio, 0.9, 1.1)).mean()
                loss = pg - 0.01 * entropy.mean() + 0.5 * ((newv.view(-1) - b_ret[mb]) ** 2).mean() * 0.5
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        print("update", update, loss.item())


if __name__ == "__main__":
    main()
